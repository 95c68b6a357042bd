/** Calls of the service with the session of the browser. */
import type { DescService } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { BadRequestSchema, ErrorInfoSchema } from "../../proto/google/rpc/error_details_pb.ts";
import { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { OrganizationService } from "../../proto/svc/v1/organization_pb.ts";
import { ScheduleService } from "../../proto/svc/v1/schedule_pb.ts";
import { StatisticsService } from "../../proto/svc/v1/statistics_pb.ts";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { signedOut } from "./session.ts";

/** `…/console/`, with the path of a proxy and the environment. */
export const base = new URL(".", document.baseURI);

const transport = createConnectTransport({
  baseUrl: new URL("api", base).href,
  useBinaryFormat: true,
  binaryOptions: { recursionLimit: 10_000 },
  interceptors: [
    (next) => async (request) => {
      try {
        return await next(request);
      } catch (error) {
        if (ConnectError.from(error).code === Code.Unauthenticated) signedOut();
        throw error;
      }
    },
  ],
});

function client<Service extends DescService>(service: Service): Client<Service> {
  return createClient(service, transport);
}

export const api = {
  deployments: client(DeploymentService),
  executions: client(ExecutionService),
  health: client(HealthService),
  organization: client(OrganizationService),
  schedules: client(ScheduleService),
  statistics: client(StatisticsService),
  webhooks: client(WebhookService),
};

/** The environment of the address; empty for all. */
export const environment = /\/env\/([^/]+)\/console\/$/.exec(base.pathname)?.[1] ?? "";

/** The environments of the pages: that of the address, or all that have an active deployment. */
export async function environments(signal: AbortSignal): Promise<string[]> {
  if (environment !== "") return [environment];
  const { deployments } = await api.deployments.listDeployments(
    { status: "active", pageSize: 1000 },
    { signal },
  );
  const names = [...new Set(deployments.map((deployment) => deployment.environment))];
  return names.toSorted(byEnvironment);
}

/** Production first, the others by name. */
export function byEnvironment(a: string, b: string): number {
  if (a === b) return 0;
  if (a === "production" || b === "production") return a === "production" ? -1 : 1;
  return a < b ? -1 : 1;
}

/** The address of the console of another environment; of all environments for an empty name. */
export function consoleOf(name: string): string {
  const root = base.pathname.replace(/(?:env\/[^/]+\/)?console\/$/, "");
  return name === "" ? `${root}console/` : `${root}env/${name}/console/`;
}

/** One sentence, and the fields that the service names. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ConnectError)) return error instanceof Error ? error.message : String(error);
  const fields = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const lines = fields
    .filter(({ description }) => !error.rawMessage.includes(description))
    .map(({ field, description }) => `${field}: ${description}`);
  return [error.rawMessage, ...lines].join("\n");
}

/** Another try would not help. */
export function isMissing(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.NotFound;
}

/** An id that does not exist, or is none. */
export function isRefusedId(error: unknown): boolean {
  return isMissing(error) || (error instanceof ConnectError && error.code === Code.InvalidArgument);
}

export function reasonOf(error: unknown): string {
  return error instanceof ConnectError ? (error.findDetails(ErrorInfoSchema)[0]?.reason ?? "") : "";
}
