import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectDefinition } from "../../project/definition.ts";
import { PROJECT_FILE } from "../../project/file/parse.ts";
import { loadProject } from "../../project/load.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { CheckResponse } from "../../proto/svc/v1/health_pb.ts";
import { activeDeployment } from "../api/active-deployment.ts";
import { type Connection, defaultEnvironment, openConnection } from "../api/connection.ts";
import { runtimeText } from "../app/version.ts";
import { count, relativeTime } from "../terminal/format.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { secretAdvice } from "../views/deployment.ts";
import { type Check, type CheckId, failed, failedWith, passed, skipped } from "./check.ts";

/** Larger differences between the clocks fail. Signed webhooks are rejected at 300 s. */
const maxClockSkewMs = 60_000;

/** Checks of the deployed project, in the order of the report. */
const deployedChecks = ["webhooks", "schedules", "secrets"] as const;

/** Runs every check once, in the order of the report. */
export async function diagnose(root: string, options: { verbose: boolean }): Promise<Check[]> {
  const checks: Check[] = [passed("runtime", runtimeText())];
  const connection = checkApiKey(options, checks);
  const isReachable = connection !== null && (await checkService(connection, checks));
  const definition = await checkProjectFile(root, checks);
  if (definition === null) checks.push(...skipped("requires a project", ...deployedChecks));
  else if (!isReachable) checks.push(...skipped("requires the service", ...deployedChecks));
  else await checkDeployed(definition, connection, checks);
  return checks;
}

function checkApiKey(options: { verbose: boolean }, checks: Check[]): Connection | null {
  try {
    const connection = openConnection(options);
    checks.push(passed("api-key", keySource(connection)));
    return connection;
  } catch (error) {
    checks.push(failedWith("api-key", error));
    checks.push(
      ...skipped(
        "requires an API key",
        "service",
        "authentication",
        "health",
        "isolation",
        "clock",
        "address",
      ),
    );
    return null;
  }
}

function keySource({ profile, source }: Connection): string {
  if (source === "profile") return `from profile ${profile}`;
  return source === "dev" ? "from the running `svc dev`" : "SVC_API_KEY is set";
}

/** @returns whether the service responded and accepted the key */
async function checkService(connection: Connection, checks: Check[]): Promise<boolean> {
  const { toCliError, isAuthenticationFailure } = await import("../api/error-messages.ts");
  let date: string | null = null;
  const onHeader = (headers: Headers): void => {
    date = headers.get("Date");
  };
  const sentAt = Date.now();
  try {
    const health = await (await connection.client("health")).check({}, { onHeader });
    const { store = "", storage = "", executor = "", scheduler = "" } = health.checks ?? {};
    checks.push(
      passed("service", connection.baseUrl),
      passed("authentication", `the API key belongs to ${health.organization}`),
      health.status === "ok"
        ? passed("health", `svc ${health.version} on ${health.runtime}`)
        : failed(
            "health",
            `store: ${store}, storage: ${storage}, executor: ${executor}, scheduler: ${scheduler}`,
            "See the log of the service.",
          ),
      passed("isolation", `runners: ${health.isolation || "unknown"}`),
      ...checkClock(date, sentAt),
      checkAddress(health),
    );
    return true;
  } catch (error) {
    if (isAuthenticationFailure(error)) {
      checks.push(passed("service", connection.baseUrl), failedWith("authentication", toCliError(error)));
    } else {
      checks.push(failedWith("service", toCliError(error)));
      checks.push(...skipped("requires the service", "authentication"));
    }
    checks.push(...skipped("requires the service", "health", "isolation", "clock", "address"));
    return false;
  }
}

function checkClock(date: string | null, sentAt: number): Check[] {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return skipped("the service does not send its time", "clock");
  // The header has a resolution of one second and was written between request and response.
  const skewMs = Math.max(0, serverMs - Date.now(), sentAt - 1000 - serverMs);
  if (skewMs <= maxClockSkewMs) return [passed("clock", "synchronized with the service")];
  const message = `the clock of the service shows a time ${relativeTime(new Date(serverMs))}`;
  return [
    failed("clock", message, "Synchronize the clocks. Signed webhooks and upload URLs depend on them."),
  ];
}

/** The rate limits and `allow_from` of webhooks depend on the address that the service sees. */
function checkAddress({ clientAddress, proxyIgnored }: CheckResponse): Check {
  const address = sanitizeLine(clientAddress);
  if (address !== "" && !proxyIgnored) return passed("address", `the service sees ${address}`);
  const problem = proxyIgnored
    ? `the service ignores the headers of the proxy ${address}`
    : "the headers of the proxy do not name one sender";
  return failed("address", problem, "Set SVC_TRUSTED_PROXIES of the service, as docs/proxies.md describes.");
}

/** @returns null without a valid project */
async function checkProjectFile(root: string, checks: Check[]): Promise<ProjectDefinition | null> {
  if (!existsSync(join(root, PROJECT_FILE))) {
    checks.push(...skipped("no project in this folder or a parent folder", "project-file"));
    return null;
  }
  const { definition, problems } = await loadProject(root);
  checks.push(
    definition === null
      ? failed(
          "project-file",
          `${PROJECT_FILE} has ${count(problems.length, "problem")}`,
          "Run `svc push --dry-run` to see them.",
        )
      : passed("project-file", `${definition.name} ${definition.version}`),
  );
  return definition;
}

/** Checks that the webhooks and schedules of the project file are live in its environment and have their secrets. */
async function checkDeployed(
  definition: ProjectDefinition,
  connection: Connection,
  checks: Check[],
): Promise<void> {
  const environment = defaultEnvironment(connection);
  try {
    const [live, { schedules }] = await Promise.all([
      (await connection.client("webhooks")).listWebhooks({ environment }),
      (await connection.client("schedules")).listSchedules({ environment }),
    ]);
    checks.push(compare("webhooks", environment, webhookNames(definition), webhookNames(live)));
    checks.push(
      compare("schedules", environment, scheduleNames(definition.schedules), scheduleNames(schedules)),
    );
    const deployments = await connection.client("deployments");
    checks.push(checkSecrets(await activeDeployment(deployments, definition.name, environment)));
  } catch (error) {
    const { toCliError } = await import("../api/error-messages.ts");
    const [first, ...rest] = deployedChecks.filter((id) => !checks.some((check) => check.id === id));
    if (first !== undefined) checks.push(failedWith(first, toCliError(error)));
    checks.push(...skipped("requires the service", ...rest));
  }
}

function checkSecrets(active: Deployment | null): Check {
  if (active === null) return { id: "secrets", status: "skipped", message: "not deployed", advice: "" };
  const { warnings } = active;
  if (warnings.length === 0) return passed("secrets", "the webhooks have their secrets");
  return failed("secrets", warnings.map(sanitizeLine).join(" "), secretAdvice);
}

type Targets = readonly { name: string; webhooks: readonly { slug: string }[] }[];

function webhookNames({ agents, workflows }: { agents: Targets; workflows: Targets }): string[] {
  return [...agents, ...workflows].flatMap(({ name, webhooks }) =>
    webhooks.map(({ slug }) => `${name}/${slug}`),
  );
}

function scheduleNames(schedules: readonly { name: string; cron: string; timezone: string }[]): string[] {
  return schedules.map(({ name, cron, timezone }) => `${name} ${cron} ${timezone}`);
}

function compare(
  id: CheckId,
  environment: string,
  declared: readonly string[],
  live: readonly string[],
): Check {
  const missing = declared.filter((name) => !live.includes(name));
  if (missing.length === 0) return passed(id, `${declared.length} declared, all live in ${environment}`);
  const push = environment === "production" ? "svc push" : `svc push ${environment}`;
  return failed(
    id,
    `not live in ${environment}: ${missing.join(", ")}`,
    `Run \`${push}\` to deploy the project.`,
  );
}
