import type { Delivery } from "../../../proto/svc/v1/webhook_pb.ts";
import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { CliError, Silent, UsageError } from "../../app/errors.ts";
import { environment, json, since, sinceOption, target, targetOf, verbose } from "../../app/options.ts";
import { confirm } from "../../terminal/confirm.ts";
import { count, prettyJson } from "../../terminal/format.ts";
import { print } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";
import { deliveryRows, outcomes } from "../../views/delivery.ts";

const redeliver: Command = command({
  about:
    "Runs what was sent to a webhook again, as a new execution: one delivery by its id, or all that the options select.\nThe signature and the idempotency key are not asked for again.",
  args: {
    "delivery-id": {
      type: "positional",
      required: false,
      description: "The delivery, `dlv_` and 26 characters",
    },
    current: {
      type: "boolean",
      description: "With the mapping and code of the active deployment, not of its own",
    },
    slug: { type: "string", valueHint: "slug", description: "Those of webhooks with this slug" },
    ...outcomes,
    ...target,
    ...sinceOption,
    ...environment,
    force: { type: "boolean", description: "Do not ask before several are run" },
    ...json,
    ...verbose,
  },
  examples: [["svc webhook redeliver --slug orders --since 2h --current", "After a mended mapping"]],
  async run(values) {
    const id = values["delivery-id"];
    const from = values.since === undefined ? undefined : since(values.since);
    const { name } = targetOf(values);
    const filters = [values.slug, values.outcome, values.since, values.environment, name || undefined];
    const isFiltered = filters.some((filter) => filter !== undefined);
    if ((id !== undefined) === isFiltered) {
      throw new UsageError(
        id === undefined
          ? "Which delivery? Neither an id nor an option selects any."
          : "An id and options exclude each other.",
        "Name a delivery, or select some, for example with --slug and --since.",
      );
    }
    const webhooks = await openConnection(values).client("webhooks");
    const { timestampFromDate } = await import("@bufbuild/protobuf/wkt");
    const selected: Pick<Delivery, "deliveryId">[] = id === undefined ? [] : [{ deliveryId: id }];
    if (id === undefined) {
      const found: Delivery[] = [];
      let pageToken = "";
      do {
        const page = await webhooks.listDeliveries({
          slug: values.slug ?? "",
          name,
          outcome: values.outcome ?? "",
          environment: values.environment ?? "",
          pageSize: 1000,
          pageToken,
          ...(from !== undefined && { since: timestampFromDate(from) }),
        });
        found.push(...page.deliveries);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      if (found.length === 0)
        throw new CliError("No deliveries found.", "`svc webhook deliveries` lists them.");
      if (!values.json)
        say.line(table(["ID", "WEBHOOK", "OUTCOME", "STATUS", "CAME", ""], deliveryRows(found)));
      await confirm(`Run ${count(found.length, "delivery", "deliveries")} again?`, values);
      // In the order in which they came.
      selected.push(...found.toReversed());
    }

    const results: { delivery_id: string; execution_id?: string; error?: string }[] = [];
    const { explain } = await import("../../api/error-messages.ts");
    for (const { deliveryId } of selected) {
      try {
        const { executionId } = await webhooks.redeliverWebhook({ deliveryId, current: values.current });
        results.push({ delivery_id: deliveryId, execution_id: executionId });
        if (!values.json) print(executionId);
      } catch (error) {
        if (id !== undefined) throw error;
        // One that cannot be run again, because its body was no JSON object, does not stop the others.
        const { message } = explain(error);
        results.push({ delivery_id: deliveryId, error: message });
        if (!values.json) say.error(`${deliveryId}: ${message}`, [], "");
      }
    }
    if (values.json) print(prettyJson({ deliveries: results }));
    if (results.some(({ error }) => error !== undefined)) throw new Silent(1);
  },
});

export default redeliver;
