/**
 * Reads matching log entries. Entries that do not match are read once. A filter that few entries match reads long ranges of
 * the log, so that they are read in parts, between which the store serves others.
 */
import { setImmediate } from "node:timers/promises";
import type { Engine } from "../../store/engine.ts";
import {
  firstLogs,
  type LogFilter,
  type LogRow,
  lastLogs,
  logEnd,
  logStart,
} from "../../store/tables/logs.ts";
import type { FollowPace } from "./follow-pace.ts";
import type { Members } from "./members.ts";

const batchSize = 500;
/** Entries in one read of a stream that shares the time with others. */
const pacedBatchSize = 50;
/** Numbers of entries in one statement. The entries of executions have an index, and need no parts. */
const partSize = 20_000;

export class LogReader {
  readonly #engine: Engine;
  readonly #orgId: string;
  readonly #members: Members | undefined;
  #filter: LogFilter;
  #seq: number;

  /**
   * @param members - the executions, when their number grows
   * @param afterSeq - where `read` starts
   */
  constructor(engine: Engine, orgId: string, filter: LogFilter, afterSeq = 0, members?: Members) {
    this.#engine = engine;
    this.#orgId = orgId;
    this.#filter = filter;
    this.#seq = afterSeq;
    this.#members = members;
  }

  /**
   * The entries up to the present end of the log.
   *
   * @param pace - delays the reads of a stream that follows
   */
  async *read(pace?: FollowPace): AsyncGenerator<LogRow> {
    const end =
      pace === undefined
        ? await this.#end()
        : await pace.read(
            () => this.#end(),
            () => 0,
          );
    if (end <= this.#seq) return;
    await this.#refresh();
    const limit = pace === undefined ? batchSize : pacedBatchSize;
    while (this.#seq < end) {
      const above = this.#seq;
      const upTo = this.#isIndexed ? end : Math.min(end, above + partSize);
      const range = { above, upTo };
      const read = (): Promise<LogRow[]> =>
        this.#engine.read(() => firstLogs(this.#orgId, this.#filter, range, limit));
      const rows = pace === undefined ? await read() : await pace.read(read, ({ length }) => length);
      yield* rows;
      this.#seq = rows.length < limit ? upTo : (rows.at(-1)?.seq ?? upTo);
      // SQLite answers without leaving this turn of the event loop.
      if (this.#seq < end) await setImmediate();
    }
  }

  /** The last `limit` entries, oldest first. `read` continues after them. */
  async tail(limit: number): Promise<LogRow[]> {
    const end = await this.#end();
    this.#seq = end;
    if (limit === 0 || end === 0) return [];
    await this.#refresh();
    const start = await this.#engine.read(() => logStart(this.#orgId, this.#filter.sinceMs, end));
    const parts: LogRow[][] = [];
    let count = 0;
    for (let upTo = end; upTo > start && count < limit; ) {
      const above = this.#isIndexed ? start : Math.max(start, upTo - partSize);
      const range = { above, upTo };
      const rows = await this.#engine.read(() => lastLogs(this.#orgId, this.#filter, range, limit - count));
      parts.unshift(rows);
      count += rows.length;
      upTo = above;
      if (upTo > start && count < limit) await setImmediate();
    }
    return parts.flat();
  }

  /** Makes `read` start at the first entry since the time of the filter. */
  async startAtTime(): Promise<void> {
    const end = await this.#end();
    this.#seq = await this.#engine.read(() => logStart(this.#orgId, this.#filter.sinceMs, end));
  }

  get #isIndexed(): boolean {
    return this.#filter.executionIds.length > 0;
  }

  #end(): Promise<number> {
    return this.#engine.read(() => logEnd(this.#orgId));
  }

  /** After the end of the log was read: an execution starts before its first entry. */
  async #refresh(): Promise<void> {
    if (this.#members === undefined) return;
    await this.#members.refresh();
    this.#filter = { ...this.#filter, executionIds: this.#members.ids };
  }
}
