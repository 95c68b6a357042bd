import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import {
  environment,
  integer,
  json,
  limit,
  since,
  sinceOption,
  target,
  targetOf,
  verbose,
} from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";
import { deliveryRows, outcomes } from "../../views/delivery.ts";

const deliveries: Command = command({
  about:
    "Lists requests to the webhooks, newest first: accepted ones as long as their execution is kept, and the newest 100 rejected ones of each webhook with the reason.",
  args: {
    slug: { type: "positional", required: false, description: "Only those of webhooks with this slug" },
    ...limit,
    ...outcomes,
    ...target,
    ...sinceOption,
    ...environment,
    ...json,
    ...verbose,
  },
  examples: [["svc webhook deliveries --outcome rejected", "What was refused"]],
  async run(values) {
    const pageSize = integer(values.limit, "--limit", 1, 1000);
    const from = values.since === undefined ? undefined : since(values.since);
    const { name } = targetOf(values);
    const webhooks = await openConnection(values).client("webhooks");
    const { timestampFromDate } = await import("@bufbuild/protobuf/wkt");
    const page = await webhooks.listDeliveries({
      slug: values.slug ?? "",
      name,
      outcome: values.outcome ?? "",
      environment: values.environment ?? "",
      pageSize,
      ...(from !== undefined && { since: timestampFromDate(from) }),
    });
    if (values.json) {
      const { ListDeliveriesResponseSchema } = await import("../../../proto/svc/v1/webhook_pb.ts");
      return printJson(ListDeliveriesResponseSchema, page);
    }
    if (page.deliveries.length === 0) {
      say.line("No deliveries found.");
      return say.hint("`svc webhook list` shows the URLs to send to.");
    }
    print(
      table(
        ["ID", "WEBHOOK", "OUTCOME", "STATUS", "CAME", "EXECUTION OR REASON"],
        deliveryRows(page.deliveries),
      ),
    );
    if (page.nextPageToken !== "")
      say.hint(`There are more; raise --limit (${pageSize}) or narrow the list.`);
  },
});

export default deliveries;
