/** Selects the deployment that this one is compared with. */
import type { Deployment } from "../../../proto/svc/v1/deployment_pb.ts";
import { dateOf, localTime, shortId } from "../../lib/format.ts";
import { href, setQuery } from "../../lib/router.ts";

export function Compared({
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
