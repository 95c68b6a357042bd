/** One deployment: its content, what it changed, and actions. */
import { emptySnapshot, planChanges } from "../../../project/plan/plan.ts";
import { snapshotOfDeployment } from "../../../project/plan/snapshot.ts";
import { Card, Facts, Failure, FullTime, Heading, Loading, Status } from "../../components/basics.tsx";
import { bytesText, countText } from "../../lib/format.ts";
import { useLoad } from "../../lib/load.ts";
import { Actions } from "./actions.tsx";
import { Compared } from "./compared.tsx";
import { Changes, Files, Targets } from "./content.tsx";
import { loadDeployment } from "./load.ts";

export function DeploymentPage({ id, query }: { id: string; query: URLSearchParams }) {
  const other = query.get("compare") ?? "";
  const { data, error, loading, reload } = useLoad(
    (signal) => loadDeployment(id, other, signal),
    `${id} ${other}`,
  );
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  const { deployment, before, missing, deployments } = data;
  const { createdBy, warnings } = deployment;
  return (
    <>
      <Heading title={`${deployment.project} ${deployment.version}`}>
        <Actions deployment={deployment} onChange={reload} />
      </Heading>
      {deployment.error === "" ? null : (
        <Card title="Error">
          <p class="error-message">{deployment.error}</p>
        </Card>
      )}
      {warnings.length === 0 ? null : (
        <Card title="Warnings">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Card>
      )}
      <Card title="Summary">
        <Facts
          entries={[
            ["Status", <Status key="s" value={deployment.status} />],
            ["Deployment", <code key="d">{deployment.deploymentId}</code>],
            ["Environment", deployment.environment],
            ["Created", <FullTime key="c" value={deployment.createdAt} />],
            ["Activated", <FullTime key="a" value={deployment.activatedAt} />],
            ["By", createdBy?.name ?? "–"],
            ["Package", `${countText(deployment.fileCount, "file")}, ${bytesText(deployment.sizeBytes)}`],
            ["Digest", <code key="g">{deployment.digest.slice(0, 16)}…</code>],
          ]}
        />
      </Card>
      <Card title={before === null && missing === undefined ? "Content" : "Changes"}>
        <Compared
          with={missing === undefined ? (before?.deploymentId ?? "") : other}
          deployment={deployment}
          others={deployments}
        />
        {missing !== undefined ? (
          <Failure error={missing} />
        ) : (
          <Changes
            plan={planChanges(
              before === null ? emptySnapshot : snapshotOfDeployment(before),
              snapshotOfDeployment(deployment),
            )}
          />
        )}
      </Card>
      <div class="columns">
        <Targets title="Agents" targets={deployment.agents} environment={deployment.environment} />
        <Targets title="Workflows" targets={deployment.workflows} environment={deployment.environment} />
      </div>
      <Files deployment={deployment} />
    </>
  );
}
