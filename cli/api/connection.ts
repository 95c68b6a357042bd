import type { Client, Transport } from "@connectrpc/connect";
import type { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import type { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import type { HealthService } from "../../proto/svc/v1/health_pb.ts";
import type { OrganizationService } from "../../proto/svc/v1/organization_pb.ts";
import type { ScheduleService } from "../../proto/svc/v1/schedule_pb.ts";
import type { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { CliError, UsageError } from "../app/errors.ts";

/** The services of the contract, by the names that commands use. */
interface Services {
  deployments: typeof DeploymentService;
  executions: typeof ExecutionService;
  health: typeof HealthService;
  organization: typeof OrganizationService;
  schedules: typeof ScheduleService;
  webhooks: typeof WebhookService;
}

// Each is imported with its messages only when a command speaks to it.
const services: { [Name in keyof Services]: () => Promise<Services[Name]> } = {
  deployments: async () => (await import("../../proto/svc/v1/deployment_pb.ts")).DeploymentService,
  executions: async () => (await import("../../proto/svc/v1/execution_pb.ts")).ExecutionService,
  health: async () => (await import("../../proto/svc/v1/health_pb.ts")).HealthService,
  organization: async () => (await import("../../proto/svc/v1/organization_pb.ts")).OrganizationService,
  schedules: async () => (await import("../../proto/svc/v1/schedule_pb.ts")).ScheduleService,
  webhooks: async () => (await import("../../proto/svc/v1/webhook_pb.ts")).WebhookService,
};

/** The service as one command speaks to it. */
export interface Connection {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Connects to one service. Connect itself is imported at the first call. */
  client<Name extends keyof Services>(name: Name): Promise<Client<Services[Name]>>;
}

export interface ConnectionOptions {
  /** Says on standard error what is fetched, and how long it took. */
  verbose?: boolean;
  /** What to say when there is no key. */
  missingKey?: { message: string; advice: string };
}

/**
 * Reads the address and the key from the environment. Nothing is sent yet.
 *
 * @throws CliError when there is no key; UsageError when key or address cannot be used
 */
export function openConnection(options: ConnectionOptions = {}): Connection {
  const baseUrl = readBaseUrl();
  const apiKey = readApiKey(options.missingKey);
  let transport: Promise<Transport> | undefined;
  return {
    baseUrl,
    async client<Name extends keyof Services>(name: Name) {
      transport ??= import("./transport.ts").then(({ createTransport }) =>
        createTransport({ baseUrl, apiKey, verbose: options.verbose === true }),
      );
      const [{ createClient }, service] = await Promise.all([
        import("@connectrpc/connect"),
        services[name](),
      ]);
      return createClient<Services[Name]>(service, await transport);
    },
  };
}

/** The environment that a base URL ends in, `…/env/<environment>`; null under a plain one. */
export function environmentOf(baseUrl: string): string | null {
  return /\/env\/([^/]+)$/.exec(baseUrl)?.[1] ?? null;
}

function readApiKey(missing: ConnectionOptions["missingKey"]): string {
  const apiKey = process.env.SVC_API_KEY?.trim() ?? "";
  if (apiKey === "") {
    throw new CliError(
      missing?.message ?? "No API key found: SVC_API_KEY is not set.",
      missing?.advice ?? "Set it and repeat: export SVC_API_KEY=<your key>",
    );
  }
  // Anything else cannot stand in a header, and must not be echoed: it may be most of a key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new UsageError(
      "SVC_API_KEY holds characters that no API key has, such as spaces or line breaks.",
      "Copy the key again; it looks like svc_<id>_<secret>.",
    );
  }
  return apiKey;
}

function readBaseUrl(): string {
  const text = process.env.SVC_BASE_URL?.trim() || "http://127.0.0.1:7070";
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (
    url === null ||
    !isHttp ||
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new UsageError(
      `SVC_BASE_URL must be an http or https URL without user, query and fragment; it is "${text}".`,
      "For example: export SVC_BASE_URL=http://127.0.0.1:7070",
    );
  }
  return url.href.replace(/\/+$/, "");
}
