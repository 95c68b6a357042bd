/**
 * `svc dev`: runs a server, deploys the project to it, and deploys it again after each change.
 *
 * States: *starting*; *running*; *stopping* after `q` or a signal, which waits shortly for running executions. A second
 * signal ends the process immediately.
 */
import { relative } from "node:path";
import { withEsbuild } from "../../project/bundle/esbuild.ts";
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import type { Connection } from "../api/connection.ts";
import { toCliError } from "../api/error-messages.ts";
import { CliError } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { webhookSecrets } from "../local/secrets.ts";
import { type LocalService, newApiKey, openLocalService } from "../local/service.ts";
import { unenforcedNetwork } from "../local/test-service.ts";
import { publishDevServer, runningDevServer } from "../profiles/dev-server.ts";
import { requireProjectFile } from "../project/load.ts";
import { type DevData, openDevData } from "./data.ts";
import { type Deployed, Deployer } from "./deployer.ts";
import type { DevReporter } from "./events.ts";
import { ExecutionFeed } from "./execution-feed.ts";
import { jsonReporter } from "./json.ts";
import { readKeys } from "./keys.ts";
import { answers, otherConnection } from "./other-servers.ts";
import { SecretSync, warnAboutEmpty } from "./secret-sync.ts";
import { textReporter } from "./text.ts";
import { watchProject } from "./watch.ts";

export interface DevOptions {
  port: number | undefined;
  "public-url": string | undefined;
  fresh: boolean;
  json: boolean;
}

/** Code that acts only in production does not act here. */
const environment = "development";
const defaultPort = 7070;
/** Ports to try after the default one. */
const nextPorts = 20;
/** A package manager that runs a script passes a signal of the terminal on once more. */
const sameSignalMs = 300;
/** How long running executions may continue after `q` or a signal. */
const stopGraceMs = 3_000;

/** Runs until `q`, SIGINT, SIGTERM or SIGHUP. */
export async function runDev(root: string, options: DevOptions): Promise<void> {
  requireProjectFile(root);
  const running = runningDevServer(root);
  if (running !== null && (await answers(running))) {
    throw new CliError(
      `\`svc dev\` already runs for this project, at ${running.base_url} (process ${running.pid}).`,
      "Stop it first, or use it: commands in this folder find it.",
    );
  }
  const stop = Promise.withResolvers<void>();
  let stoppedAt: number | null = null;
  const onSignal = (): void => {
    if (stoppedAt !== null && performance.now() - stoppedAt > sameSignalMs) process.exit(130);
    stoppedAt ??= performance.now();
    stop.resolve();
  };
  process.on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  // One process of esbuild for all deployments.
  await withInterrupt(onSignal, () => withEsbuild(() => session(root, options, stop.promise, onSignal)));
}

async function session(
  root: string,
  options: DevOptions,
  stopped: Promise<void>,
  quit: () => void,
): Promise<void> {
  const data = openDevData(root, options, newApiKey);
  process.once("exit", data.release);
  const hint = process.stdin.isTTY ? "Press h for help, q to quit." : "";
  const reporter = options.json ? jsonReporter() : textReporter(root, hint);
  // The service opens before the feed exists, and may at once continue executions of an earlier one.
  const early: string[] = [];
  let follow = (executionId: string): void => void early.push(executionId);
  const service = await openLocalService({
    purpose: "dev",
    dataDir: data.folder,
    ports: options.port === undefined ? portsToTry() : [options.port],
    publicUrl: options["public-url"],
    apiKey: data.apiKey,
    environment,
    onAttempt: (executionId) => follow(executionId),
    onRejection: ({ name, slug }, { httpStatus, reason }, outcome) =>
      reporter.refused({ name, slug, outcome, httpStatus, reason }),
  });
  const { connection } = service;
  const feed = new ExecutionFeed(connection, {
    onMissedStart: (execution) => reporter.missedStart(execution),
    onExecution: (execution) => reporter.execution(execution),
    onLog: (log) => void reporter.log(log),
    onError: (error) => reporter.warning(toCliError(error).message),
  });
  follow = (executionId) => feed.follow(executionId);
  early.forEach(follow);
  let graceMs = 0;
  try {
    await develop({ root, options, data, service, reporter, quit, stopped });
    graceMs = stopGraceMs;
  } finally {
    // The feed reports executions that end now.
    await service.close(graceMs);
    feed.close();
    data.release();
  }
  // Everything is stored by now, so the process does not wait for open handles.
  process.stdout.write("", () => process.exit(0));
}

interface Session {
  root: string;
  options: DevOptions;
  data: DevData;
  service: LocalService;
  reporter: DevReporter;
  quit: () => void;
  stopped: Promise<void>;
}

/** Sets the secrets, and deploys the project after each change until `stopped`. */
async function develop(session: Session): Promise<void> {
  const { root, options, data, service, reporter, quit, stopped } = session;
  const { connection } = service;
  const secrets = new SecretSync(root, connection, data);
  const { empty, values } = await secrets.read();
  const unpublish = publishDevServer(root, {
    base_url: service.baseUrl,
    api_key: data.apiKey,
    pid: process.pid,
  });
  process.once("exit", unpublish);

  const { port } = new URL(service.baseUrl);
  if (options.port === undefined && port !== String(defaultPort)) {
    reporter.message(`Port ${defaultPort} is in use; this server uses port ${port}.\n`);
  }
  reporter.started({
    root,
    baseUrl: service.baseUrl,
    dataDir: options.fresh ? data.folder : relative(root, data.folder),
    isTemporary: options.fresh,
    isolation: service.isolation,
    secrets: Object.keys(values).toSorted(),
    otherConnection: otherConnection(service.baseUrl),
  });

  const reported = (error: unknown): void => reporter.warning(toCliError(error).message);
  let hasDeployed = false;
  let hasProblem = false;
  const deployer = new Deployer({
    root,
    connection,
    environment,
    onFiles: (paths) => watcher.addFiles(paths),
    async onDeployed({ definition, deployment, isUnchanged, tookMs }: Deployed) {
      if (!hasDeployed && definition.network !== null && !service.enforcesNetwork) {
        reporter.warning(unenforcedNetwork);
      }
      hasDeployed = true;
      const isFixed = hasProblem;
      hasProblem = false;
      if (isUnchanged) return reporter.unchanged(isFixed);
      const schedules = await schedulesOf(connection, deployment.schedules.length);
      const missing = webhookSecrets(definition).filter((name) => !secrets.names.includes(name));
      await reporter.deployed(deployment, schedules, tookMs, missing);
    },
    async onFailed(error) {
      hasProblem = true;
      reporter.failed(toCliError(error), hasDeployed);
    },
  });
  const watcher = watchProject(root, {
    onChange: () => deployer.changed(),
    onSecrets: () => void secrets.changed(reporter).catch(reported),
    onError: (message) => reporter.warning(message),
  });
  const restore = options.json ? () => {} : readKeys({ reporter, connection, deployer, quit });
  process.once("exit", restore);
  try {
    await deployer.deploy(false);
    warnAboutEmpty(empty, reporter);
    await stopped;
    reporter.stopping();
  } finally {
    restore();
    watcher.stop();
    unpublish();
    await deployer.close();
  }
}

/** The next free port after the default one, then any. */
function portsToTry(): number[] {
  return [...Array.from({ length: nextPorts }, (_, index) => defaultPort + index), 0];
}

async function schedulesOf(connection: Connection, count: number): Promise<Schedule[]> {
  if (count === 0) return [];
  const client = await connection.client("schedules");
  return (await client.listSchedules({ environment })).schedules;
}
