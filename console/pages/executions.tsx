/** Executions, newest first, with filters in the address. */
import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { Empty, Failure, Heading, Id, Loading, Status, Time } from "../components/basics.tsx";
import {
  ExecutionFilters,
  filterNames,
  filterOf,
  isReversed,
  requestOf,
} from "../components/execution-filters.tsx";
import { type Column, More, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { dateOf, durationText } from "../lib/format.ts";
import { useList } from "../lib/list.ts";
import { useLive } from "../lib/live.ts";
import { href, setQuery } from "../lib/router.ts";

export const columns: readonly Column<Execution>[] = [
  {
    title: "Execution",
    cell: ({ executionId }) => (
      <a href={href(["executions", executionId])}>
        <Id value={executionId} />
      </a>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status value={status} /> },
  { title: "Name", cell: ({ name }) => name },
  { title: "Trigger", cell: ({ trigger }) => trigger, wide: true },
  { title: "Environment", cell: ({ environment }) => environment, wide: true },
  { title: "Created", cell: ({ createdAt }) => <Time value={createdAt} /> },
  { title: "Took", cell: tookOf, numeric: true },
];

export function tookOf({ startedAt, finishedAt }: Execution): string {
  const [start, end] = [dateOf(startedAt), dateOf(finishedAt)];
  return start === null || end === null ? "" : durationText(end.getTime() - start.getTime());
}

export function ExecutionsPage({ query }: { query: URLSearchParams }) {
  const filter = filterOf(query);
  const list = useList(async (pageToken, signal) => {
    const page = await api.executions.listExecutions(
      { ...requestOf(filter), pageToken, pageSize: 50 },
      { signal },
    );
    return { rows: page.executions, token: page.nextPageToken, searchedTo: dateOf(page.searchedTo) };
  }, JSON.stringify(filter));
  useLive(list.refresh);
  const { rows, error, loading, refresh } = list;
  const isFiltered = filterNames.some((name) => filter[name] !== "");
  return (
    <>
      <Heading title="Executions">
        <a class="button primary" href={href(["run"])}>
          Run
        </a>
      </Heading>
      <ExecutionFilters filter={filter} />
      {error !== undefined && !isReversed(filter) ? <Failure error={error} onRetry={refresh} /> : null}
      {loading ? <Loading /> : null}
      {rows === undefined ? null : rows.length > 0 ? (
        <Table label="Executions" columns={columns} rows={rows} keyOf={({ executionId }) => executionId} />
      ) : list.token !== "" ? null : isFiltered ? (
        <Empty title="No execution matches the filters.">
          <button
            type="button"
            onClick={() => setQuery(Object.fromEntries(filterNames.map((name) => [name, ""])))}
          >
            Show all
          </button>
        </Empty>
      ) : (
        <Empty title="Nothing has run yet.">
          <p>
            <a href={href(["run"])}>Run an agent</a>, or send a request to one of its{" "}
            <a href={href(["webhooks"])}>webhooks</a>.
          </p>
        </Empty>
      )}
      <More list={list} />
    </>
  );
}
