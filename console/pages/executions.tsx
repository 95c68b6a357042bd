/** Executions, newest first, with filters in the address. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { Empty, Failure, Heading, Id, Loading, Status, Time } from "../components/basics.tsx";
import { type Column, More, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { dateOf, durationText } from "../lib/format.ts";
import { useInterval, useLoad } from "../lib/load.ts";
import { href, setQuery } from "../lib/router.ts";

export const statuses = ["queued", "running", "succeeded", "failed", "cancelled"];
const periods = [
  ["", "any time"],
  ["1", "last hour"],
  ["24", "last 24 h"],
  ["168", "last 7 d"],
] as const;

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
  const filter = {
    status: query.get("status") ?? "",
    name: query.get("name") ?? "",
    hours: query.get("hours") ?? "",
  };
  const [older, setOlder] = useState<{ rows: Execution[]; token: string } | null>(null);
  const request = () => ({
    status: filter.status,
    name: filter.name,
    pageSize: 50,
    ...(filter.hours !== "" && { since: timestampFromMs(Date.now() - Number(filter.hours) * 3_600_000) }),
  });
  const key = JSON.stringify(filter);
  const { data, error, loading, reload } = useLoad(
    (signal) => api.executions.listExecutions(request(), { signal }),
    key,
  );
  useInterval(() => older === null && reload(), 3);
  const change = (values: Record<string, string>) => {
    setOlder(null);
    setQuery(values);
  };
  const rows = [...(data?.executions ?? []), ...(older?.rows ?? [])];
  const token = older?.token ?? data?.nextPageToken ?? "";
  const isFiltered = Object.values(filter).some((value) => value !== "");
  return (
    <>
      <Heading title="Executions">
        <a class="button primary" href={href(["run"])}>
          Run
        </a>
      </Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Status
          <select value={filter.status} onChange={(event) => change({ status: event.currentTarget.value })}>
            <option value="">any</option>
            {statuses.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        </label>
        <label>
          Name
          <input
            type="search"
            value={filter.name}
            placeholder="agent or workflow"
            onChange={(event) => change({ name: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          Created
          <select value={filter.hours} onChange={(event) => change({ hours: event.currentTarget.value })}>
            {periods.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </form>
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : rows.length > 0 ? (
        <>
          <Table label="Executions" columns={columns} rows={rows} keyOf={({ executionId }) => executionId} />
          <More
            token={token}
            onMore={async () => {
              const page = await api.executions.listExecutions({ ...request(), pageToken: token });
              setOlder({ rows: [...(older?.rows ?? []), ...page.executions], token: page.nextPageToken });
            }}
          />
        </>
      ) : isFiltered ? (
        <Empty title="No execution matches the filters.">
          <button type="button" onClick={() => change({ status: "", name: "", hours: "" })}>
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
    </>
  );
}
