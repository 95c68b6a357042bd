import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { json, verbose } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { deliveryText } from "../../views/delivery.ts";

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
