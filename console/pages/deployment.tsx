/** One deployment: its content, what it changed, and actions. */
import { useState } from "preact/hooks";
import { emptySnapshot, type Plan, planChanges } from "../../project/plan/plan.ts";
import { snapshotOfDeployment } from "../../project/plan/snapshot.ts";
import type { DeployedTarget, Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { Card, Facts, Failure, FullTime, Heading, Loading, Status } from "../components/basics.tsx";
import { ConfirmButton } from "../components/confirm.tsx";
import { api, isRefusedId } from "../lib/api.ts";
import { bytesText, countText, dateOf, durationText, localTime, secondsOf, shortId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { go, href, setQuery } from "../lib/router.ts";
import { allows } from "../lib/session.ts";

/**
 * The deployment, the others of its project, and the one that it is compared with: by default the one that was created before
 * it in its environment.
 */
async function load(deploymentId: string, other: string, signal: AbortSignal) {
  const deployment = await api.deployments.getDeployment({ deploymentId, includeFiles: true }, { signal });
  const { project, environment } = deployment;
  const { deployments } = await api.deployments.listDeployments({ project, pageSize: 200 }, { signal });
  const older = deployments.slice(deployments.findIndex((one) => one.deploymentId === deploymentId) + 1);
  const previous = older.find(
    (one) => one.environment === environment && (one.status === "superseded" || one.status === "active"),
  );
  const compared = other === "" ? (previous?.deploymentId ?? "") : other;
  if (compared === "") return { deployment, before: null, missing: undefined, deployments };
  try {
    const request = { deploymentId: compared, includeFiles: true };
    const before = await api.deployments.getDeployment(request, { signal });
    return { deployment, before, missing: undefined, deployments };
  } catch (error) {
    if (!isRefusedId(error)) throw error;
    return { deployment, before: null, missing: error, deployments };
  }
}

export function DeploymentPage({ id, query }: { id: string; query: URLSearchParams }) {
  const other = query.get("compare") ?? "";
  const { data, error, loading, reload } = useLoad((signal) => load(id, other, signal), `${id} ${other}`);
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

function Compared({
  with: compared,
  deployment,
  others,
}: {
  with: string;
  deployment: Deployment;
  others: readonly Deployment[];
}) {
  const options = others.filter(
    ({ deploymentId, status }) => deploymentId !== deployment.deploymentId && status !== "deleted",
  );
  if (options.length === 0 && compared === "") return null;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Compared with
        <select value={compared} onChange={(event) => setQuery({ compare: event.currentTarget.value })}>
          {compared === "" ? <option value="">nothing (first deployment)</option> : null}
          {compared === "" || options.some(({ deploymentId }) => deploymentId === compared) ? null : (
            <option value={compared}>{shortId(compared)}</option>
          )}
          {options.map(({ deploymentId, version, environment, status, createdAt }) => (
            <option key={deploymentId} value={deploymentId}>
              {[version, environment, status, shortId(deploymentId), timeOf(createdAt)].join(" · ")}
            </option>
          ))}
        </select>
      </label>
      {compared === "" ? null : (
        <a class="button" href={href(["deployments", compared])}>
          Open deployment
        </a>
      )}
    </form>
  );
}

function timeOf(time: Deployment["createdAt"]): string {
  const date = dateOf(time);
  return date === null ? "" : localTime(date);
}

function Changes({ plan }: { plan: Plan }) {
  const groups = Object.entries(plan).filter(([, changes]) => changes.length > 0);
  if (groups.length === 0) return <p class="dim">No changes.</p>;
  return (
    <dl class="changes">
      {groups.map(([name, changes]: [string, Plan[keyof Plan]]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <ul>
              {changes.slice(0, 100).map(({ change, key, details }) => (
                <li key={key}>
                  <span class={`change ${change}`}>{change}</span> <code>{key}</code>{" "}
                  <span class="dim">{details.join(", ")}</span>
                </li>
              ))}
              {changes.length > 100 ? <li class="dim">… {changes.length - 100} more</li> : null}
            </ul>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Targets({
  title,
  targets,
  environment,
}: {
  title: string;
  targets: readonly DeployedTarget[];
  environment: string;
}) {
  if (targets.length === 0) return null;
  return (
    <Card title={title}>
      <ul class="targets">
        {targets.map(({ name, displayName, description, timeout, maxRetries }) => (
          <li key={name}>
            <a href={href(["run"], { name, environment })}>{displayName}</a>{" "}
            <span class="dim">
              timeout {durationText(secondsOf(timeout) * 1000)}
              {maxRetries === 0 ? "" : `, ${countText(maxRetries, "retry", "retries")}`}
            </span>
            {description === "" ? null : <p>{description}</p>}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Files({ deployment }: { deployment: Deployment }) {
  const [all, setAll] = useState(false);
  const files = all ? deployment.files : deployment.files.slice(0, 20);
  if (files.length === 0) return null;
  return (
    <Card title="Files">
      <ul class="files">
        {files.map(({ path, sizeBytes }) => (
          <li key={path}>
            <code>{path}</code> <span class="dim">{bytesText(sizeBytes)}</span>
          </li>
        ))}
      </ul>
      {files.length < deployment.files.length ? (
        <button type="button" onClick={() => setAll(true)}>
          Show all {deployment.files.length}
        </button>
      ) : null}
    </Card>
  );
}

function Actions({ deployment, onChange }: { deployment: Deployment; onChange(): Promise<void> }) {
  const { deploymentId, status, version, environment } = deployment;
  const [target, setTarget] = useState("");
  if (!allows("deploy")) return null;
  const isUsable = status === "active" || status === "superseded";
  return (
    <>
      {status === "superseded" ? (
        <ConfirmButton
          label="Roll back"
          question={`Roll ${environment} back to ${version}?`}
          detail="Code, webhooks and schedules switch at once. Running executions finish on their own deployment."
          onConfirm={() =>
            act(`${environment} runs ${version} again.`, async () => {
              await api.deployments.rollbackDeployment({ deploymentId });
              await onChange();
            })
          }
        />
      ) : null}
      {isUsable ? (
        <form class="promote" onSubmit={(event) => event.preventDefault()}>
          <input
            aria-label="Environment to promote to"
            placeholder="environment"
            value={target}
            onInput={(event) => setTarget(event.currentTarget.value.trim())}
          />
          <ConfirmButton
            label="Promote"
            disabled={target === "" || target === environment}
            question={`Deploy ${version} to ${target}?`}
            onConfirm={() =>
              act(`${target} runs ${version}.`, async () => {
                const promoted = await api.deployments.createDeployment({
                  sourceDeploymentId: deploymentId,
                  environment: target,
                });
                go(["deployments", promoted.deploymentId]);
              })
            }
          />
        </form>
      ) : null}
    </>
  );
}
