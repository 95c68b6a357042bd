import type { DescMessage, DescService, Message } from "@bufbuild/protobuf";
import type { Client, Transport } from "@connectrpc/connect";
import type { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import type { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import type { HealthService } from "../../proto/svc/v1/health_pb.ts";
import type { OrganizationService } from "../../proto/svc/v1/organization_pb.ts";
import type { ScheduleService } from "../../proto/svc/v1/schedule_pb.ts";
import type { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { type Selection, selectConnection } from "../profiles/select.ts";

/** The services of the API by the names that commands use. */
export interface Services {
  deployments: typeof DeploymentService;
  executions: typeof ExecutionService;
  health: typeof HealthService;
  organization: typeof OrganizationService;
  schedules: typeof ScheduleService;
  webhooks: typeof WebhookService;
}

// Lazy: a command imports only the services that it calls.
const services: { [Name in keyof Services]: () => Promise<Services[Name]> } = {
  deployments: async () => (await import("../../proto/svc/v1/deployment_pb.ts")).DeploymentService,
  executions: async () => (await import("../../proto/svc/v1/execution_pb.ts")).ExecutionService,
  health: async () => (await import("../../proto/svc/v1/health_pb.ts")).HealthService,
  organization: async () => (await import("../../proto/svc/v1/organization_pb.ts")).OrganizationService,
  schedules: async () => (await import("../../proto/svc/v1/schedule_pb.ts")).ScheduleService,
  webhooks: async () => (await import("../../proto/svc/v1/webhook_pb.ts")).WebhookService,
};

const loaded = new Set<DescService>();

/** A connection to the service. */
export interface Connection {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The name of the profile that holds the key; null for another source. */
  readonly profile: string | null;
  readonly source: Selection["source"];
  /** Returns a client of one service. The first call imports Connect. */
  client<Name extends keyof Services>(name: Name): Promise<Client<Services[Name]>>;
}

export interface ConnectionOptions {
  /** Reports every request and its duration on standard error. */
  verbose?: boolean;
}

/**
 * Reads the address and the key from the environment or from a profile. Sends nothing.
 *
 * @throws CliError without a key; UsageError when the key or the address is invalid
 */
export function openConnection(options: ConnectionOptions = {}): Connection {
  return connectionTo(selectConnection(), options);
}

/** Connects with an address and a key. Sends nothing. */
export function connectionTo(selection: Selection, options: ConnectionOptions = {}): Connection {
  const { baseUrl, apiKey, profile, source } = selection;
  let transport: Transport | undefined;
  return {
    baseUrl,
    profile,
    source,
    async client<Name extends keyof Services>(name: Name) {
      const [{ createClient, createTransport }, service] = await Promise.all([
        import("./transport.ts"),
        services[name](),
      ]);
      transport ??= createTransport({ baseUrl, apiKey, verbose: options.verbose === true });
      loaded.add(service);
      return createClient<Services[Name]>(service, transport);
    },
  };
}

/** Returns a client of one service, for commands that call only this one. */
export function connect<Name extends keyof Services>(
  name: Name,
  options: ConnectionOptions,
): Promise<Client<Services[Name]>> {
  return openConnection(options).client(name);
}

/** The schema of a message that a client returned. */
export function schemaOf({ $typeName }: Message): DescMessage {
  for (const { file } of loaded) {
    const schema = file.messages.find(({ typeName }) => typeName === $typeName);
    if (schema !== undefined) return schema;
  }
  throw new Error(`No service with the message ${$typeName} is loaded.`);
}

/** The environment in the base URL, `…/env/<environment>`; `production` without one. */
export function defaultEnvironment({ baseUrl }: Connection): string {
  return /\/env\/([^/]+)$/.exec(baseUrl)?.[1] ?? "production";
}
