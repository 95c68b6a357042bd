import type { Client } from "@connectrpc/connect";
import type { Deployment, DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";

/** The active deployment of a project in an environment, with its files; null when there is none. */
export async function activeDeployment(
  deployments: Client<typeof DeploymentService>,
  project: string,
  environment: string,
): Promise<Deployment | null> {
  const page = await deployments.listDeployments({ status: "active", project, environment, pageSize: 1 });
  const [active] = page.deployments;
  if (active === undefined) return null;
  return deployments.getDeployment({ deploymentId: active.deploymentId, includeFiles: true });
}

/** The environments with active deployments. */
export async function activeEnvironments(deployments: Client<typeof DeploymentService>): Promise<string[]> {
  const active = await deployments.listDeployments({ status: "active", pageSize: 1000 });
  return [...new Set(active.deployments.map(({ environment }) => environment))].toSorted();
}
