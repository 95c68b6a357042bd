/** The changes, the targets and the files of a deployment. */
import { useState } from "preact/hooks";
import type { Plan } from "../../../project/plan/plan.ts";
import type { DeployedTarget, Deployment } from "../../../proto/svc/v1/deployment_pb.ts";
import { Card } from "../../components/basics.tsx";
import { bytesText, countText, durationText, secondsOf } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";

export function Changes({ plan }: { plan: Plan }) {
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

export function Targets({
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

export function Files({ deployment }: { deployment: Deployment }) {
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
