import type { CopiedTable } from "../../server/store/copy.ts";
import { count } from "../terminal/format.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { table } from "../terminal/table.ts";

/** Prints the result of `svc admin export` and `import`. */
export function printCopy(tables: readonly CopiedTable[], { json }: { json: boolean }): void {
  if (json) {
    printJson({ tables });
    return;
  }
  print(
    table(
      ["TABLE", "ROWS"],
      tables.map((copied) => [copied.table, String(copied.rows)]),
    ),
  );
  const rows = tables.reduce((sum, copied) => sum + copied.rows, 0);
  const replaced = tables.reduce((sum, copied) => sum + copied.replaced, 0);
  report.success(`Copied and compared ${count(rows, "row")}.`);
  if (replaced > 0) {
    report.warning(
      `PostgreSQL cannot store the character U+0000: it is U+FFFD in ${count(replaced, "text")} now.`,
    );
  }
}
