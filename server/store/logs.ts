/**
 * The log of an organization: what users' code prints, and what the service did with it.
 *
 * Two tables make one log. An accepted webhook's line is read from its execution, which says all that the line says: a row
 * of its own would cost a webhook a tenth of its time. A *cursor* therefore has two parts, the number of the last line read
 * from the table of lines and the id of the last execution; both only ever grow.
 */
import type { TargetKind } from "../../project/definition.ts";
import { all, first, type Program, run } from "./engine.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogSource = "console" | "execution" | "webhook" | "schedule" | "deployment" | "audit";

export interface NewLog {
  org_id: string;
  at: number;
  level: LogLevel;
  source: LogSource;
  message: string;
  execution_id: string | null;
  deployment_id: string | null;
  name: string | null;
  environment: string | null;
}

/** Where a reader is. */
export interface LogCursor {
  seq: number;
  executionId: string;
}

export interface LogRow extends NewLog {
  /** Where a reader is who has read this line. */
  cursor: LogCursor;
}

export interface LogFilter {
  name: string;
  executionId: string;
  environment: string;
  /** The audit trail alone, or everything but it. */
  audit: boolean;
}

interface StoredLine extends NewLog {
  seq: number;
}

interface WebhookLine {
  org_id: string;
  execution_id: string;
  created_at: number;
  kind: TargetKind;
  name: string;
  environment: string;
  deployment_id: string;
  webhook: string;
}

/** Before every line. */
export const logStart: LogCursor = { seq: 0, executionId: `exe_${"0".repeat(26)}` };

const INSERT = `INSERT INTO logs (org_id, seq, at, level, source, message, execution_id, deployment_id, name, environment)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const MATCHES = "(?3 = '' OR name = ?3) AND (?4 = '' OR environment = ?4) AND (source = 'audit') = ?5";
const SELECT_LAST = `SELECT * FROM logs WHERE org_id = ?1 AND ${MATCHES} ORDER BY seq DESC LIMIT ?2`;
/** What the index of an execution's lines holds. */
const OWN_LINES = "source IN ('console', 'execution')";
const SELECT_LAST_OF_EXECUTION = `SELECT * FROM logs WHERE org_id = ?1 AND execution_id = ?6 AND ${OWN_LINES} AND ${MATCHES}
ORDER BY seq DESC LIMIT ?2`;
const SELECT_AFTER = `SELECT * FROM logs WHERE org_id = ?1 AND seq > ?6 AND ${MATCHES} ORDER BY seq LIMIT ?2`;
const SELECT_AFTER_OF_EXECUTION = `SELECT * FROM logs WHERE org_id = ?1 AND execution_id = ?7 AND seq > ?6
  AND ${OWN_LINES} AND ${MATCHES}
ORDER BY seq LIMIT ?2`;
const SELECT_END = "SELECT COALESCE(MAX(seq), 0) AS seq FROM logs WHERE org_id = ?";
const WEBHOOK_COLUMNS = "org_id, execution_id, created_at, kind, name, environment, deployment_id, webhook";
const IS_LINE = "webhook IS NOT NULL AND (?3 = '' OR name = ?3) AND (?4 = '' OR environment = ?4)";
/**
 * Executions among which the last webhooks are looked for. An index of them would find older ones too, and cost each
 * webhook a tree to write.
 */
const lookedBack = 20_000;
const SELECT_LAST_WEBHOOKS = `SELECT ${WEBHOOK_COLUMNS} FROM
  (SELECT * FROM executions WHERE org_id = ?1 ORDER BY execution_id DESC LIMIT ${lookedBack})
WHERE ${IS_LINE} ORDER BY execution_id DESC LIMIT ?2`;
const SELECT_WEBHOOKS_AFTER = `SELECT ${WEBHOOK_COLUMNS} FROM executions
WHERE org_id = ?1 AND execution_id > ?5 AND ${IS_LINE} ORDER BY execution_id LIMIT ?2`;
const SELECT_WEBHOOK_END = "SELECT MAX(execution_id) AS execution_id FROM executions WHERE org_id = ?";

/** Appends lines, each at the end of its organization's log. */
export function* insertLogs(rows: readonly NewLog[]): Program<void> {
  const ends = new Map<string, number>();
  for (const row of rows) {
    const end = ends.get(row.org_id) ?? (yield* endOf(row.org_id));
    ends.set(row.org_id, end + 1);
    yield* run(
      INSERT,
      row.org_id,
      end + 1,
      row.at,
      row.level,
      row.source,
      row.message,
      row.execution_id,
      row.deployment_id,
      row.name,
      row.environment,
    );
  }
}

/** The last lines that match, oldest first, and the cursor of the newest line of all, from which to go on. */
export function* lastLogs(
  orgId: string,
  filter: LogFilter,
  limit: number,
): Program<{ rows: LogRow[]; end: LogCursor }> {
  const { name, environment, executionId } = filter;
  const audit = filter.audit ? 1 : 0;
  const last = yield* first<{ execution_id: string | null }>(SELECT_WEBHOOK_END, orgId);
  const end = { seq: yield* endOf(orgId), executionId: last?.execution_id ?? logStart.executionId };
  const lines =
    executionId === ""
      ? yield* all<StoredLine>(SELECT_LAST, orgId, limit, name, environment, audit)
      : yield* all<StoredLine>(SELECT_LAST_OF_EXECUTION, orgId, limit, name, environment, audit, executionId);
  const webhooks = hasWebhooks(filter)
    ? yield* all<WebhookLine>(SELECT_LAST_WEBHOOKS, orgId, limit, name, environment)
    : [];
  const merged = merge(lines.reverse(), webhooks.reverse());
  const kept = limit === 0 ? [] : merged.slice(-limit);
  // A reader who comes back with the cursor of a line must not be sent what was left out before the first.
  const firstWebhook = kept.find(isWebhook)?.execution_id;
  const start = {
    seq: Math.max(0, (kept.find((line): line is StoredLine => !isWebhook(line))?.seq ?? end.seq + 1) - 1),
    executionId: firstWebhook === undefined ? end.executionId : idBefore(firstWebhook),
  };
  return { rows: withCursors(kept, startFor(filter, start)), end };
}

/** The first lines after a cursor that match, up to `limit` from each table, oldest first. */
export function* logsAfter(
  orgId: string,
  filter: LogFilter,
  after: LogCursor,
  limit: number,
): Program<LogRow[]> {
  const { name, environment, executionId } = filter;
  const audit = filter.audit ? 1 : 0;
  const lines =
    executionId === ""
      ? yield* all<StoredLine>(SELECT_AFTER, orgId, limit, name, environment, audit, after.seq)
      : yield* all<StoredLine>(
          SELECT_AFTER_OF_EXECUTION,
          orgId,
          limit,
          name,
          environment,
          audit,
          after.seq,
          executionId,
        );
  const webhooks = hasWebhooks(filter)
    ? yield* all<WebhookLine>(SELECT_WEBHOOKS_AFTER, orgId, limit, name, environment, after.executionId)
    : [];
  return withCursors(merge(lines, webhooks), startFor(filter, after));
}

/** Lines of one execution have the same cursors however they were read: those of a log that begins with it. */
function startFor(filter: LogFilter, start: LogCursor): LogCursor {
  return filter.executionId === "" ? start : { ...start, executionId: filter.executionId };
}

/** An execution's own log and the audit trail have no webhooks' lines. */
function hasWebhooks(filter: LogFilter): boolean {
  return filter.executionId === "" && !filter.audit;
}

function isWebhook(line: StoredLine | WebhookLine): line is WebhookLine {
  return "webhook" in line;
}

/** By time; the order within each list stays. */
function merge(lines: readonly StoredLine[], webhooks: readonly WebhookLine[]): (StoredLine | WebhookLine)[] {
  const merged: (StoredLine | WebhookLine)[] = [];
  let at = 0;
  for (const line of lines) {
    for (let webhook = webhooks[at]; webhook !== undefined && webhook.created_at <= line.at; ) {
      merged.push(webhook);
      webhook = webhooks[++at];
    }
    merged.push(line);
  }
  return merged.concat(webhooks.slice(at));
}

function withCursors(lines: readonly (StoredLine | WebhookLine)[], start: LogCursor): LogRow[] {
  let cursor = start;
  return lines.map((line) => {
    if (!isWebhook(line)) {
      cursor = { ...cursor, seq: line.seq };
      return { ...line, cursor };
    }
    cursor = { ...cursor, executionId: line.execution_id };
    const { org_id, execution_id, deployment_id, name, environment } = line;
    const message = `Webhook '${line.webhook}' of ${line.kind} '${name}' accepted.`;
    const at = line.created_at;
    return {
      org_id,
      at,
      level: "info",
      source: "webhook",
      message,
      execution_id,
      deployment_id,
      name,
      environment,
      cursor,
    };
  });
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** The id that comes just before another, as text is ordered. */
function idBefore(id: string): string {
  for (let at = id.length - 1; at > 3; at--) {
    const digit = digits.indexOf(id.charAt(at));
    if (digit > 0) return id.slice(0, at) + digits.charAt(digit - 1) + "z".repeat(id.length - at - 1);
  }
  return id;
}

function* endOf(orgId: string): Program<number> {
  return (yield* first<{ seq: number }>(SELECT_END, orgId))?.seq ?? 0;
}
