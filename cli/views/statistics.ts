import type { StoreStatistics } from "../../server/store/tables/statistics.ts";
import { bytes, count, formatTime, relativeTime } from "../terminal/format.ts";
import { fields, paragraphs, section, table } from "../terminal/table.ts";

const statuses = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

/** The document of `svc admin stats`. */
export function statisticsJson({ size, tables, executions, packages }: StoreStatistics): object {
  const time = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());
  return {
    size_bytes: size.bytes,
    free_bytes: size.freeBytes,
    releases_free_space: size.releases,
    executions: Object.fromEntries(statuses.map((status) => [status, executions.counts[status] ?? 0])),
    oldest_execution_at: time(executions.oldestAtMs),
    oldest_due_at: time(executions.oldestDueAtMs),
    packages: { count: packages.count, size_bytes: packages.bytes },
    tables: tables.map(({ name, rows, bytes: sizeBytes }) => ({ name, rows, size_bytes: sizeBytes })),
  };
}

export function statisticsText({ size, tables, executions, packages }: StoreStatistics): string {
  const free = size.freeBytes === 0 ? "" : `, ${bytes(size.freeBytes)} of it free`;
  const kept = size.releases === false ? "; a restored backup releases free space" : "";
  const since = (atMs: number | null): string =>
    atMs === null ? "" : `${formatTime(new Date(atMs))} (${relativeTime(new Date(atMs))})`;
  return paragraphs([
    fields([
      ["store", `${bytes(size.bytes)}${free}${kept}`],
      ["packages", `${count(packages.count, "package")}, ${bytes(packages.bytes)}`],
      ["oldest execution", since(executions.oldestAtMs)],
      ["longest waiting", since(executions.oldestDueAtMs)],
    ]),
    section("Executions", fields(statuses.map((status) => [status, String(executions.counts[status] ?? 0)]))),
    section(
      "Tables",
      table(
        [{ title: "TABLE", role: "name" }, "ROWS", "SIZE"],
        tables.map(({ name, rows, bytes: sizeBytes }) => [name, String(rows), bytes(sizeBytes)]),
        2,
      ),
    ),
  ]);
}
