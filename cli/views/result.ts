/** Prints the results of API calls: as JSON with `--json`, as text otherwise. */
import type { Message } from "@bufbuild/protobuf";
import { schemaOf } from "../api/connection.ts";
import type { Column } from "../terminal/columns.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { lineJson } from "../terminal/sanitize.ts";
import { type Cell, table } from "../terminal/table.ts";

/** A message in the JSON form of the REST API: names in snake_case, every field present. */
export async function toRestJson(message: Message): Promise<unknown> {
  const { toJson } = await import("../api/messages.ts");
  return toJson(schemaOf(message), message, { useProtoFieldName: true, alwaysEmitImplicit: true });
}

/** Prints a message as one JSON document. */
export async function printMessage(message: Message): Promise<void> {
  printJson(await toRestJson(message));
}

/** Prints a message as one line of JSON. */
export async function printMessageLine(message: Message): Promise<void> {
  print(lineJson(await toRestJson(message)));
}

/** Prints one resource. */
export async function printResource(
  message: Message,
  values: { json: boolean },
  text: () => string | Promise<string>,
): Promise<void> {
  if (values.json) await printMessage(message);
  else print(await text());
}

/** Prints the page of a list as a table. For an empty list it reports `empty`, a message and a hint. */
export async function printList<Page extends Message & { nextPageToken: string }>(
  page: Page,
  values: { json: boolean },
  list: {
    columns: readonly Column[];
    rows: readonly (readonly Cell[])[];
    empty: readonly [message: string, hint: string];
  },
): Promise<void> {
  if (values.json) return printMessage(page);
  if (list.rows.length === 0) {
    report.line(list.empty[0]);
    return report.hint(list.empty[1]);
  }
  print(table(list.columns, list.rows));
  if (page.nextPageToken !== "") reportMore(page.nextPageToken);
}

/** Reports that a list has more entries than were printed. */
export function reportMore(nextPageToken: string): void {
  report.hint("There are more entries. Raise --limit, add a filter, or pass --all.");
  report.hint(`Next page: --page-token ${nextPageToken}`);
}
