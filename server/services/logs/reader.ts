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
import type { LogBatch, SharedBatches } from "./shared-batches.ts";

const batchSize = 500;
/** Entries in one read of a stream that shares the time with others. */
const followedBatchSize = 100;
/** Numbers of entries in one statement. The entries of executions have an index, and need no parts. */
const partSize = 20_000;

/** What streams that follow have in common. */
export interface Follow {
  pace: FollowPace;
  batches: SharedBatches;
}

export class LogReader {
  readonly #engine: Engine;
  readonly #orgId: string;
  readonly #members: Members | undefined;
  readonly #filterText: string;
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
    this.#filterText = JSON.stringify(filter);
    this.#seq = afterSeq;
    this.#members = members;
  }

  /**
   * The entries up to the present end of the log, in batches.
   *
   * @param follow - for a stream that follows: its reads wait for their turn, and are shared with other streams
   */
  async *read(follow?: Follow): AsyncGenerator<readonly LogRow[]> {
    let end: number | null = null;
    const next = async (): Promise<LogBatch | null> => {
      if (end === null) {
        end = await this.#end();
        if (end > this.#seq) await this.#refresh();
      }
      return end > this.#seq ? this.#batch(end, follow) : null;
    };
    do {
      const batch = await (follow === undefined ? next() : follow.pace.read(next));
      if (batch === null) return;
      this.#seq = batch.upTo;
      yield batch.rows;
      // SQLite answers without leaving this turn of the event loop.
      if (follow === undefined) await setImmediate();
    } while (end === null || this.#seq < end);
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

  /** Entries of single executions are not shared: few streams follow the same one. */
  #batch(end: number, follow: Follow | undefined): Promise<LogBatch> {
    if (follow === undefined) return this.#readBatch(end, batchSize);
    if (this.#isIndexed) return this.#readBatch(end, followedBatchSize);
    const key = `${this.#orgId} ${this.#seq} ${this.#filterText}`;
    return follow.batches.read(key, () => this.#readBatch(end, followedBatchSize));
  }

  async #readBatch(end: number, limit: number): Promise<LogBatch> {
    const above = this.#seq;
    const upTo = this.#isIndexed ? end : Math.min(end, above + partSize);
    const rows = await this.#engine.read(() => firstLogs(this.#orgId, this.#filter, { above, upTo }, limit));
    return { rows, upTo: rows.length < limit ? upTo : (rows.at(-1)?.seq ?? upTo) };
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
