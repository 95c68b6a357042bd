import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { output } from "../../app/options.ts";
import { deliveryText } from "../../views/delivery.ts";
import { printResource } from "../../views/result.ts";

export default command({
  details: "Prints outcome, headers and payload.",
  args: {
    "delivery-id": { type: "positional", description: "Delivery ID, `dlv_` and 26 characters" },
    ...output,
  },
  async run(values) {
    const webhooks = await connect("webhooks", values);
    const delivery = await webhooks.getDelivery({ deliveryId: values["delivery-id"] });
    await printResource(delivery, values, () => deliveryText(delivery));
  },
}) as Command;
