/** Lists executions. With filters, a request searches a limited part of them. */
import type { MessageShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { ExecutionSchema, type ListExecutionsRequest } from "../../../proto/svc/v1/execution_pb.ts";
import { callerOf } from "../../auth/caller.ts";
import { invalidField } from "../../errors.ts";
import { timeOfId } from "../../ids.ts";
import type { Engine, Program } from "../../store/engine.ts";
import {
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionSummary,
  idRange,
  lastOfPart,
  listExecutionSummaries,
  listExecutions,
} from "../../store/tables/executions.ts";
import type { App } from "../app.ts";
import { toExecution, toExecutionSummary } from "../convert.ts";
import { type Listed, listPage, type Page, pageOf } from "../page.ts";
import { environmentFilter } from "../request.ts";
import { type Part, Search } from "../search.ts";

/** Rows with values may take several MiB each. */
const fullRows = 16;

type ListedExecutions = Listed<typeof ExecutionSchema> & { searchedTo: Timestamp | undefined };

export async function listPageOfExecutions(
  { engine }: App,
  request: ListExecutionsRequest,
  context: HandlerContext,
): Promise<ListedExecutions> {
  const { orgId } = callerOf(context);
  const { status, name, kind, trigger, contains, view } = request;
  const filter: ExecutionFilter = {
    environment: environmentFilter(request.environment, context),
    status,
    name,
    kind,
    origin: trigger,
    since: request.since === undefined ? 0 : timestampMs(request.since),
    until: request.until === undefined ? 0 : timestampMs(request.until),
    contains,
  };
  if (request.since !== undefined && request.until !== undefined && filter.until <= filter.since) {
    throw invalidField("until", "LATER_THAN_SINCE", "Cannot use until: it must be later than since.");
  }
  const page = pageOf(request, ["ListExecutions", filter, view]);
  if (view !== "full") {
    return await searchPage(
      page,
      new Search(partsOf(engine, orgId, filter, listExecutionSummaries)),
      toExecutionSummary,
    );
  }
  const search = new Search(partsOf(engine, orgId, filter, listExecutions));
  return await searchPage(page, search, (row: ExecutionRow) => toExecution(row, true), fullRows);
}

/** Reads parts of the list. Without filters each part is a page. */
function partsOf<Row extends ExecutionSummary>(
  engine: Engine,
  orgId: string,
  filter: ExecutionFilter,
  list: (...args: Parameters<typeof listExecutions>) => Program<Row[]>,
): (before: string, limit: number, size: number) => Promise<Part<Row>> {
  const { environment, status, name, kind, origin, contains } = filter;
  const hasFilter = [environment, status, name, kind, origin, contains].some((value) => value !== "");
  return (before, limit, size) =>
    engine.read(function* () {
      const range = idRange(filter, before);
      const lastKey = hasFilter ? yield* lastOfPart(orgId, range, size) : "";
      const part = lastKey === "" ? range : { ...range, from: lastKey };
      return { rows: yield* list(orgId, filter, part, limit), lastKey };
    });
}

async function searchPage<Row extends ExecutionSummary>(
  page: Page,
  search: Search<Row>,
  convert: (row: Row) => MessageShape<typeof ExecutionSchema>,
  readSize?: number,
): Promise<ListedExecutions> {
  const listed = await listPage<Row, typeof ExecutionSchema>(page, {
    read: (before, limit) => search.read(before, limit),
    keyOf: (row) => row.execution_id,
    schema: ExecutionSchema,
    convert,
    ...(readSize !== undefined && { readSize }),
    stoppedAt: () => search.stoppedAt,
  });
  const { stoppedAt } = search;
  const isStopped = stoppedAt !== "" && listed.nextPageToken === page.tokenAfter(stoppedAt);
  return { ...listed, searchedTo: isStopped ? timestampFromMs(timeOfId(stoppedAt)) : undefined };
}
