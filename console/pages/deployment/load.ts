/** Loads what the page of a deployment shows. */
import { api, isRefusedId } from "../../lib/api.ts";

/**
 * The deployment, the others of its project, and the one that it is compared with: by default the one that was created before
 * it in its environment.
 */
export async function loadDeployment(deploymentId: string, other: string, signal: AbortSignal) {
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
