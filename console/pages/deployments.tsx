/** Deployments, newest first. */
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { Empty, Failure, Heading, Id, Loading, Status, Time } from "../components/basics.tsx";
import { type Column, More, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { useList } from "../lib/list.ts";
import { useInterval } from "../lib/load.ts";
import { href, setQuery } from "../lib/router.ts";

const columns: readonly Column<Deployment>[] = [
  {
    title: "Deployment",
    cell: ({ deploymentId }) => (
      <a href={href(["deployments", deploymentId])}>
        <Id value={deploymentId} />
      </a>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status value={status} /> },
  { title: "Project", cell: ({ project, version }) => `${project} ${version}` },
  { title: "Environment", cell: ({ environment }) => environment },
  { title: "By", cell: ({ createdBy }) => createdBy?.name ?? "", wide: true },
  { title: "Created", cell: ({ createdAt }) => <Time value={createdAt} /> },
];

export function DeploymentsPage({ query }: { query: URLSearchParams }) {
  const status = query.get("status") ?? "";
  const list = useList(async (pageToken, signal) => {
    const page = await api.deployments.listDeployments({ status, pageSize: 50, pageToken }, { signal });
    return { rows: page.deployments, token: page.nextPageToken };
  }, status);
  useInterval(list.refresh, 10);
  const { rows, error, loading, refresh } = list;
  return (
    <>
      <Heading title="Deployments" />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">any</option>
            {["active", "superseded", "pending", "failed", "deleted"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </form>
      {error !== undefined ? <Failure error={error} onRetry={refresh} /> : null}
      {loading ? <Loading /> : null}
      {rows === undefined ? null : rows.length === 0 ? (
        <Empty title={status === "" ? "Nothing is deployed yet." : "No deployment has this status."}>
          <p>
            <code>svc init hello</code> creates a project, and <code>svc push</code> deploys it.
          </p>
        </Empty>
      ) : (
        <Table label="Deployments" columns={columns} rows={rows} keyOf={({ deploymentId }) => deploymentId} />
      )}
      <More list={list} />
    </>
  );
}
