import { json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { deliveryText } from "../../delivery-text.ts";
import { print, printJson } from "../../output.ts";

const delivery: Command = command({
  args: {
    "delivery-id": { type: "positional", description: "The delivery, `dlv_` and 26 characters" },
    ...json,
    ...verbose,
  },
  async run(values) {
    const webhooks = await openConnection(values).client("webhooks");
    const found = await webhooks.getDelivery({ deliveryId: values["delivery-id"] });
    if (values.json) {
      const { DeliverySchema } = await import("../../../proto/svc/v1/webhook_pb.ts");
      return printJson(DeliverySchema, found);
    }
    print(deliveryText(found));
  },
});

export default delivery;
