/** The agents and workflows of the active deployments. */
import { api, byEnvironment } from "./api.ts";

export interface Target {
  deploymentId: string;
  name: string;
  kind: string;
  environment: string;
  description: string;
}

export async function listTargets(signal: AbortSignal): Promise<Target[]> {
  const { deployments } = await api.deployments.listDeployments(
    { status: "active", pageSize: 1000 },
    { signal },
  );
  const ordered = deployments.toSorted((a, b) => byEnvironment(a.environment, b.environment));
  return ordered.flatMap((deployment) =>
    (["agent", "workflow"] as const).flatMap((kind) =>
      (kind === "agent" ? deployment.agents : deployment.workflows).map(({ name, description }) => ({
        ...{ name, kind, description, environment: deployment.environment },
        deploymentId: deployment.deploymentId,
      })),
    ),
  );
}
