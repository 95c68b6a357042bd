/** The dependencies of the services, provided by the composition root. */
import type { ProjectDefinition } from "../../project/definition.ts";
import type { Config } from "../config.ts";
import type { Counters } from "../counters.ts";
import type { Executor } from "../executions/executor.ts";
import type { LogWriter } from "../executions/log-writer.ts";
import type { Notifier } from "../executions/notifier.ts";
import type { Pools } from "../executions/pool/contract.ts";
import type { Boundary } from "../executions/sandbox/boundary.ts";
import type { Scheduler } from "../schedules/scheduler.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { Vault } from "../secrets/vault.ts";
import type { Senders } from "../senders/senders.ts";
import type { ObjectStorage } from "../storage/contract.ts";
import type { Engine } from "../store/engine.ts";
import type { Tracer } from "../telemetry/tracing/tracer.ts";
import type { FetchUrl } from "../webhooks/fetch.ts";
import type { WebhookLimits } from "../webhooks/limits.ts";
import type { RejectionLog } from "../webhooks/rejection-log.ts";
import type { RouteTable } from "../webhooks/route-table.ts";
import type { SnsVerifier } from "../webhooks/sns/verifier.ts";
import type { Trigger } from "../webhooks/trigger.ts";
import type { Waiters } from "../webhooks/waiters.ts";
import type { Packages } from "./deployments/packages.ts";
import type { Follow } from "./logs/reader.ts";

export interface App {
  config: Config;
  /** The URL that clients use, without a trailing slash. */
  baseUrl(): string;
  engine: Engine;
  storage: ObjectStorage;
  packages: Packages;
  pools: Pools;
  /** Around all runners; null in a process without runners. */
  boundary: Boundary | null;
  /** The server runs only the project of its own user, in `svc dev` or `svc test`. */
  isLocal: boolean;
  executor: Executor;
  scheduler: Scheduler;
  routes: RouteTable;
  trigger: Trigger;
  notifier: Notifier;
  logs: LogWriter;
  /** The definition of a deployment, cached. */
  definitionOf(orgId: string, deploymentId: string): Promise<ProjectDefinition>;
  counters: Counters;
  vault: Vault;
  /** For the secrets that were given to the organization's code. Undefined when there are none. */
  redactorOf(orgId: string): Redactor | undefined;
  senders: Senders;
  limits: WebhookLimits;
  rejections: RejectionLog;
  follow: Follow;
  sns: SnsVerifier;
  /** For the confirmation of a subscription. */
  fetchUrl: FetchUrl;
  /** Requests that wait for their execution to finish (`Prefer: wait`). */
  waiters: Waiters;
  /** Null without tracing. */
  tracer: Tracer | null;
  /** Aborted when the server shuts down; ends streams. */
  closing: AbortSignal;
}
