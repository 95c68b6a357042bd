import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectDefinition } from "../../project/definition.ts";
import { PROJECT_FILE } from "../../project/file/parse.ts";
import { loadProject } from "../../project/load.ts";
import { type Connection, environmentOf, openConnection } from "../api/connection.ts";
import { CliError } from "../app/errors.ts";
import { runtimeText } from "../app/version.ts";
import { count, distance } from "../terminal/format.ts";

/** Ids of the checks. Stable: programs rely on them. */
export type CheckId =
  | "runtime"
  | "api-key"
  | "service"
  | "authentication"
  | "health"
  | "clock"
  | "project-file"
  | "webhooks"
  | "schedules";

/** What one check found. */
export interface Check {
  id: CheckId;
  /** `skipped` when it cannot be made, because another one failed or there is no project here. */
  status: "ok" | "failed" | "skipped";
  message: string;
  /** What to do; empty unless it failed. */
  advice: string;
}

/** Clocks further apart than this are a failure, in ms: signed webhooks are refused at 300 s. */
const maxSkewMs = 60_000;

/** Makes every check, each once, whatever the others find. */
export async function diagnose(root: string, options: { verbose: boolean }): Promise<Check[]> {
  const checks: Check[] = [ok("runtime", runtimeText())];
  const connection = openOrFail(options, checks);
  const health = connection === null ? null : await checkService(connection, checks);
  const definition = await checkProjectFile(root, checks);
  await checkDeployed(definition, health === null ? null : connection, checks);
  return checks;
}

function openOrFail(options: { verbose: boolean }, checks: Check[]): Connection | null {
  try {
    const connection = openConnection(options);
    checks.push(ok("api-key", "SVC_API_KEY is set"));
    return connection;
  } catch (error) {
    checks.push(failed("api-key", error));
    for (const id of ["service", "authentication", "health", "clock"] as const)
      checks.push(skipped(id, "needs a key"));
    return null;
  }
}

/** @returns null when the service cannot be spoken to */
async function checkService(connection: Connection, checks: Check[]): Promise<"reached" | null> {
  const { explain, isAnswer, isAuthenticationFailure } = await import("../api/error-messages.ts");
  let date: string | null = null;
  const startedAt = Date.now();
  try {
    const health = await (await connection.client("health")).check(
      {},
      {
        onHeader(headers) {
          date = headers.get("Date");
        },
      },
    );
    checks.push(
      ok("service", connection.baseUrl),
      ok("authentication", `the key belongs to ${health.organization}`),
    );
    const { store = "", storage = "", executor = "", scheduler = "" } = health.checks ?? {};
    checks.push(
      health.status === "ok"
        ? ok("health", `svc ${health.version} on ${health.runtime}`)
        : failure(
            "health",
            `store: ${store}, storage: ${storage}, executor: ${executor}, scheduler: ${scheduler}`,
            "The service's own log says more.",
          ),
    );
    checks.push(clockCheck(date, startedAt));
    return "reached";
  } catch (error) {
    const isReached = isAnswer(error);
    const why = failed(isReached ? "authentication" : "service", explain(error));
    if (!isReached) checks.push(why, skipped("authentication", "the service is not reached"));
    else if (isAuthenticationFailure(error)) checks.push(ok("service", connection.baseUrl), why);
    else checks.push(failed("service", explain(error)), skipped("authentication", "the service is not well"));
    checks.push(skipped("health", "needs an answer"), skipped("clock", "needs an answer"));
    return null;
  }
}

function clockCheck(date: string | null, startedAt: number): Check {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return skipped("clock", "the service does not say its time");
  // The header counts in seconds, and the answer took its time.
  const skewMs = Math.max(0, serverMs - Date.now(), startedAt - 1000 - serverMs);
  if (skewMs <= maxSkewMs) return ok("clock", "this machine and the service agree");
  return failure(
    "clock",
    `the service's clock stands ${distance(new Date(serverMs))}`,
    "Set the clocks: signed webhooks and upload URLs depend on them.",
  );
}

/** @returns null without a valid project */
async function checkProjectFile(root: string, checks: Check[]): Promise<ProjectDefinition | null> {
  if (!existsSync(join(root, PROJECT_FILE))) {
    checks.push(skipped("project-file", "there is no project in this folder"));
    return null;
  }
  const { definition, problems } = await loadProject(root);
  if (definition !== null) {
    checks.push(ok("project-file", `${definition.name} ${definition.version}`));
    return definition;
  }
  checks.push(
    failure(
      "project-file",
      `${PROJECT_FILE} has ${count(problems.length, "problem")}`,
      "`svc push --dry-run` shows them.",
    ),
  );
  return null;
}

/** Compares what the project file declares with what is live in its environment. */
async function checkDeployed(
  definition: ProjectDefinition | null,
  connection: Connection | null,
  checks: Check[],
): Promise<void> {
  if (definition === null || connection === null) {
    const why = definition === null ? "needs a project" : "needs the service";
    checks.push(skipped("webhooks", why), skipped("schedules", why));
    return;
  }
  const environment = environmentOf(connection.baseUrl) ?? "production";
  try {
    const [{ agents, workflows }, { schedules }] = await Promise.all([
      (await connection.client("webhooks")).listWebhooks({ environment }),
      (await connection.client("schedules")).listSchedules({ environment }),
    ]);
    const live = new Set(
      [...agents, ...workflows].flatMap(({ name, webhooks }) =>
        webhooks.map(({ slug }) => `${name}/${slug}`),
      ),
    );
    const declared = [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
      webhooks.map(({ slug }) => `${name}/${slug}`),
    );
    checks.push(compared("webhooks", "webhook", declared, live));
    const running = new Set(schedules.map(({ name, cron, timezone }) => `${name} ${cron} ${timezone}`));
    const wanted = definition.schedules.map(({ name, cron, timezone }) => `${name} ${cron} ${timezone}`);
    checks.push(compared("schedules", "schedule", wanted, running));
  } catch (error) {
    const { explain } = await import("../api/error-messages.ts");
    checks.push(failed("webhooks", explain(error)), skipped("schedules", "the webhooks could not be listed"));
  }
}

function compared(id: CheckId, word: string, declared: readonly string[], live: ReadonlySet<string>): Check {
  const missing = declared.filter((one) => !live.has(one));
  if (missing.length === 0) return ok(id, `${count(declared.length, word)} declared, live as declared`);
  return failure(id, `not live: ${missing.join(", ")}`, "Deploy the project with `svc push`.");
}

function ok(id: CheckId, message: string): Check {
  return { id, status: "ok", message, advice: "" };
}

function skipped(id: CheckId, message: string): Check {
  return { id, status: "skipped", message, advice: "" };
}

function failure(id: CheckId, message: string, advice: string): Check {
  return { id, status: "failed", message, advice };
}

function failed(id: CheckId, error: unknown): Check {
  return error instanceof CliError
    ? failure(id, error.message, error.advice)
    : failure(id, String(error), "");
}
