/**
 * Azure Event Grid: the handshake of CloudEvents or, in its own schema, an event whose validation code is the response.
 * https://learn.microsoft.com/en-us/azure/event-grid/end-point-validation-event-grid-events-schema
 */
import { isJsonObject } from "../../../project/json.ts";
import { cloudevents } from "./cloudevents.ts";
import { type Handshake, jsonAnswer } from "./handshake.ts";

export const eventgrid: Handshake = {
  ...cloudevents,
  event({ payload: { payload: events } }) {
    const [event] = Array.isArray(events) ? events : [];
    if (!isJsonObject(event) || event.eventType !== "Microsoft.EventGrid.SubscriptionValidationEvent")
      return null;
    const code = isJsonObject(event.data) ? event.data.validationCode : null;
    return typeof code === "string" ? jsonAnswer({ validationResponse: code }) : null;
  },
};
