/** The tables of all list commands at several widths of the terminal. */
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Column } from "../../cli/terminal/columns.ts";
import { table } from "../../cli/terminal/table.ts";
import { deliveryColumns } from "../../cli/views/delivery.ts";

const id = (prefix: string) => `${prefix}_${"0123456789abcdefghjkmnpqrs"}`;
const longName = "synchronise-customer-invoices-with-the-ledger";

const name: Column = { title: "NAME", role: "name" };
const extra = (title: string): Column => ({ title, role: "extra" });

/** Columns as in the commands, one row, and the texts that every width shows. */
const tables: [string, readonly Column[], string[], (string | RegExp)[]][] = [
  [
    "executions",
    ["ID", "STATUS", name, extra("CREATED"), extra("TRIGGER"), extra("TOOK")],
    [id("exe"), "cancelled", longName, "12 min ago", "webhook", "2 min 5 s"],
    [id("exe"), "cancelled", /sync.*edger/],
  ],
  [
    "keys",
    ["ID", name, "SCOPE", extra("CREATED"), extra("LAST USED"), "STATE"],
    [id("key"), longName, "trigger", "12 days ago", "never", "revoked 12 days ago"],
    [id("key"), /syn.*ger/, "trigger", "revoked 12 days ago"],
  ],
  [
    "deliveries",
    deliveryColumns([]),
    [
      id("dlv"),
      `${longName}/new-pull-request`,
      "rejected",
      "401",
      "in 3 min",
      "no header x-hub-signature-256 in the request",
    ],
    [id("dlv"), /syn.*uest/, "rejected", "no header x-hub-signature-256 in the request"],
  ],
  [
    "secrets",
    ["NAME", extra("CREATED"), extra("UPDATED")],
    ["A".repeat(48), "12 days ago", "12 days ago"],
    ["A".repeat(48)],
  ],
];

test.each(tables.flatMap((entry) => [60, 80, 120].map((width) => [...entry, width] as const)))(
  "%s",
  (_, columns, row, shown, width) => {
    const text = stripVTControlCharacters(table(columns, [row], 0, width));
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    for (const part of shown) expect(text).toMatch(part);
  },
);

test("prints everything without a terminal", () => {
  for (const [, columns, row] of tables) {
    const [, line = ""] = stripVTControlCharacters(table(columns, [row])).split("\n");
    for (const cell of row) expect(line).toContain(cell);
  }
});

test("breaks details at spaces, below the row", () => {
  const columns: readonly Column[] = ["ID", { title: "REASON", role: "detail" }];
  expect(stripVTControlCharacters(table(columns, [["abc", "one two three four"]], 0, 12))).toBe(
    "ID\n  REASON\nabc\n  one two\n  three four",
  );
});

test("moves columns to further lines before it cuts an ID", () => {
  const rows = [[id("exe"), "cancelled", longName]];
  expect(stripVTControlCharacters(table(["ID", "STATUS", name], rows, 0, 40))).toBe(
    `ID\n  STATUS     NAME\n${id("exe")}\n  cancelled  synchronise-c…th-the-ledger`,
  );
});

test("measures and shortens emoji and East Asian text by columns", () => {
  const rows = [
    ["日本語のプロジェクト名前", "active"],
    ["👩‍🚀 rockets e\u0301", "active"],
  ];
  const lines = table([name, "STATE"], rows, 0, 24).split("\n").map(stripVTControlCharacters);
  expect(lines).toEqual([
    "NAME              STATE",
    "日本語の…ト名前   active",
    "👩‍🚀 rockets e\u0301      active",
  ]);
});
