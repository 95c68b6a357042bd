import { connect } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { timestampOf } from "../../api/timestamps.ts";
import { type Command, command } from "../../app/command.ts";
import { environment, limit, outcome, output, paging, since, target, targetOf } from "../../app/options.ts";
import { deliveryColumns, deliveryRows } from "../../views/delivery.ts";
import { printList } from "../../views/result.ts";

export default command({
  details:
    "Lists accepted and rejected requests to the webhooks. Accepted deliveries are kept as long as their execution, rejected ones up to 100 for each webhook. The status at receipt is 202 for every accepted request, even if its sender waited and got the status of the execution.",
  args: {
    slug: { type: "positional", required: false, description: "Filter by webhook slug" },
    ...limit,
    ...paging,
    ...outcome,
    ...target,
    ...since,
    ...environment,
    ...output,
  },
  examples: [["svc webhook deliveries --outcome rejected", "List rejected requests"]],
  async run(values) {
    const filter = {
      slug: values.slug ?? "",
      name: targetOf(values).name,
      outcome: values.outcome ?? "",
      environment: values.environment ?? "",
      since: timestampOf(values.since),
    };
    const client = await connect("webhooks", values);
    const page = await readPages(
      values,
      (request) => client.listDeliveries({ ...filter, ...request }),
      (all, next) => all.deliveries.push(...next.deliveries),
      (all) => all.deliveries.length,
    );
    await printList(page, values, {
      columns: deliveryColumns(page.deliveries),
      rows: deliveryRows(page.deliveries),
      empty: ["No deliveries found.", "Run `svc webhook list` to see the webhook URLs."],
    });
  },
}) as Command;
