import type { Client } from "@connectrpc/connect";
import type { Deployment, DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { CliError, UsageError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

type Deployments = Client<typeof DeploymentService>;

/**
 * The deployment that was active before the present one.
 *
 * @param project - empty for the only project that is active in the environment
 * @throws CliError when there is none; UsageError when several projects are active
 */
export async function previousDeployment(
  deployments: Deployments,
  project: string,
  environment: string,
): Promise<Deployment> {
  const active = await listAll(deployments, { project, environment, status: "active" });
  const [only, ...others] = active;
  if (only === undefined) {
    const which = project === "" ? "No project" : `Project ${sanitizeLine(project)}`;
    const verb = project === "" ? "is active" : "has no active deployment";
    throw new CliError(
      `${which} ${verb} in ${sanitizeLine(environment)}.`,
      "Run `svc deployments list` to see all deployments.",
    );
  }
  if (others.length > 0) {
    const names = active.map((deployment) => sanitizeLine(deployment.project)).sort();
    throw new UsageError(
      `Several projects are active in ${sanitizeLine(environment)}: ${names.join(", ")}.`,
      "Pass --project <name> or the id of a deployment.",
    );
  }
  const superseded = await listAll(deployments, { project: only.project, environment, status: "superseded" });
  const [previous] = superseded.sort((a, b) => activatedAt(b) - activatedAt(a));
  if (previous !== undefined) return previous;
  throw new CliError(
    `Project ${sanitizeLine(only.project)} has no earlier deployment in ${sanitizeLine(environment)}.`,
    "Run `svc deployments list` to see all deployments.",
  );
}

async function listAll(
  deployments: Deployments,
  filter: { project: string; environment: string; status: string },
): Promise<Deployment[]> {
  const found: Deployment[] = [];
  let pageToken = "";
  do {
    const page = await deployments.listDeployments({ ...filter, pageToken, pageSize: 1000 });
    found.push(...page.deployments);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

function activatedAt({ activatedAt: time }: Deployment): number {
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}
