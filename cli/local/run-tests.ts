import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { compileMapping } from "../../project/mapping.ts";
import { didYouMean } from "../../project/suggest.ts";
import type { LogEntry, Outcome } from "../../server/executions/pool/index.ts";
import { CliError, Silent, UsageError } from "../app/errors.ts";
import { readInput } from "../app/input.ts";
import { checkedProject } from "../project/load.ts";
import { err, out } from "../terminal/colors.ts";
import { clean, cleanLine, count, duration, prettyJson } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { say } from "../terminal/report.ts";
import { indent } from "../terminal/table.ts";
import { brokenModules } from "./module-errors.ts";
import { errorOf, LocalProject } from "./pool.ts";
import { type Case, findSamples } from "./samples.ts";

export interface TestOptions {
  name: string | undefined;
  data: string | undefined;
  webhook: string | undefined;
  json: boolean;
  verbose: boolean;
}

/**
 * Checks the project in a folder and runs what is asked for.
 *
 * @throws Silent with exit code 1 when something failed
 */
export async function runTests(root: string, options: TestOptions): Promise<void> {
  if (options.data !== undefined && options.name === undefined) {
    throw new UsageError(
      "--data needs an agent or a workflow.",
      "For example `svc test triage --data issue.json`.",
    );
  }
  if (options.webhook !== undefined && options.data === undefined) {
    throw new UsageError("--webhook needs a payload.", "Give it with --data <file>.");
  }
  const { definition, files } = await checkedProject(root);
  const targets = selected(definition, options.name);
  const single = options.data === undefined ? null : caseOf(targets, options.webhook, options.data);
  const log: { name: string | null; entry: LogEntry }[] = [];
  const local = await LocalProject.open({
    definition,
    files,
    secrets: secretsOf(process.env),
    onLog(name, entry) {
      if (single !== null || options.verbose) say.line(logLine(name, entry));
      else log.push({ name, entry });
    },
  });
  try {
    const broken = await local.check(targets);
    if (broken.length > 0) throw brokenModules(broken);
    await local.warm();
    if (single !== null) return await runSingle(local, single, options);
    const { cases, strangers } = await findSamples(root, definition);
    for (const file of strangers) say.warning(`${file} belongs to no agent, workflow or webhook.`);
    const results: Result[] = [];
    for (const target of targets) {
      const own = cases.filter((one) => one.target === target);
      if (own.length === 0) results.push(loadedOnly(target, options));
      for (const one of own) {
        log.length = 0;
        const result = await runCase(local, { ...one, file: join(root, one.file) }, one.file);
        results.push(result);
        if (options.json) continue;
        print(resultText(result));
        if (result.error !== undefined)
          for (const { name, entry } of log) say.line(indent(logLine(name, entry)));
      }
    }
    const failed = results.filter(({ status }) => status === "failed");
    if (options.json) print(prettyJson({ ok: failed.length === 0, results }));
    else say.line(summary(results, failed.length));
    if (failed.length > 0) throw new Silent(1);
  } finally {
    await local.close();
  }
}

interface Result {
  name: string;
  webhook: string | null;
  /** The file of the input; null when the target was only loaded. */
  file: string | null;
  status: "succeeded" | "failed" | "loaded";
  took_ms: number;
  output?: unknown;
  unmapped?: string[];
  error?: { name: string; message: string; stack: string };
}

async function runCase(local: LocalProject, one: Case, file: string): Promise<Result> {
  const startedAt = performance.now();
  const { input, unmapped } = await inputOf(one);
  const outcome: Outcome = await local.run(one.target, input);
  const error = errorOf(outcome);
  return {
    name: one.target.name,
    webhook: one.webhook?.slug ?? null,
    file,
    status: error === null ? "succeeded" : "failed",
    took_ms: Math.round(performance.now() - startedAt),
    ...(outcome.type === "succeeded" && { output: JSON.parse(outcome.output) }),
    ...(one.webhook !== null && { unmapped }),
    ...(error !== null && { error }),
  };
}

async function runSingle(local: LocalProject, one: Case, options: TestOptions): Promise<void> {
  const result = await runCase(local, one, one.file);
  if (options.json) print(prettyJson(result));
  else if (result.error === undefined) print(prettyJson(result.output));
  for (const path of result.unmapped ?? []) say.warning(`${cleanLine(path)} leads nowhere in the payload.`);
  if (result.error === undefined) return;
  const { name, message, stack } = result.error;
  say.error(`${one.target.name} failed: ${cleanLine(`${name}: ${message}`)}`, framesOf(stack), "");
  throw new Silent(1);
}

async function inputOf({ webhook, file }: Case): Promise<{ input: JsonObject; unmapped: string[] }> {
  const given = await readInput(file);
  return webhook === null
    ? { input: given, unmapped: [] }
    : compileMapping(webhook.fieldMapping).apply(given);
}

function selected(definition: ProjectDefinition, name: string | undefined): TargetDefinition[] {
  const all = [...definition.agents, ...definition.workflows];
  if (name === undefined) return all;
  const found = all.filter((target) => target.name === name);
  if (found.length > 0) return found;
  const names = all.map((target) => target.name);
  throw new CliError(
    `There is no agent or workflow "${cleanLine(name)}" in svc-project.yaml${didYouMean(name, names)}.`,
    names.length === 0 ? "Write one with `svc create agent <name>`." : `It has ${names.join(", ")}.`,
  );
}

function caseOf(targets: readonly TargetDefinition[], slug: string | undefined, file: string): Case {
  const [target] = targets;
  if (target === undefined) throw new UsageError("--data needs an agent or a workflow.", "Name one.");
  if (slug === undefined) return { target, webhook: null, file };
  const webhook = target.webhooks.find((one) => one.slug === slug);
  if (webhook !== undefined) return { target, webhook, file };
  const slugs = target.webhooks.map((one) => one.slug);
  throw new CliError(
    `${target.name} has no webhook "${cleanLine(slug)}"${didYouMean(slug, slugs)}.`,
    slugs.length === 0 ? "Add `webhooks` to it in svc-project.yaml." : `It has ${slugs.join(", ")}.`,
  );
}

/** `SVC_SECRET_NAME=value` is the secret `NAME`. */
function secretsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const prefix = "SVC_SECRET_";
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name.startsWith(prefix) && value !== undefined)
      .map(([name, value]) => [name.slice(prefix.length), value ?? ""]),
  );
}

function loadedOnly({ name }: TargetDefinition, options: TestOptions): Result {
  const result: Result = { name, webhook: null, file: null, status: "loaded", took_ms: 0 };
  if (!options.json) print(`${out.dim("-")} ${name}  ${out.dim(`loads; samples/${name}.json would be run`)}`);
  return result;
}

function resultText(result: Result): string {
  const sign = result.status === "failed" ? out.red("✖") : out.green("✔");
  const what = result.webhook === null ? result.name : `${result.name}/${result.webhook}`;
  const lines = [`${sign} ${what}  ${out.dim(`${result.file}, ${duration(result.took_ms)}`)}`];
  for (const path of result.unmapped ?? []) lines.push(out.yellow(`  ${cleanLine(path)} leads nowhere`));
  if (result.error !== undefined) {
    const { name, message, stack } = result.error;
    lines.push(out.red(indent(clean(`${name}: ${message}`))), ...framesOf(stack));
  }
  return lines.join("\n");
}

/** The frames of a stack, without the lines above them, which repeat name and message. */
function framesOf(stack: string): string[] {
  return clean(stack)
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
}

function logLine(name: string | null, { level, message }: LogEntry): string {
  const text = clean(message).replace(/\n+$/, "");
  return `${err.cyan(name ?? "process")}  ${level === "error" ? err.red(text) : text}`;
}

function summary(results: readonly Result[], failed: number): string {
  const ran = results.filter(({ status }) => status !== "loaded").length;
  if (failed > 0) return `\n${err.red(`${failed} of ${count(ran, "run")} failed.`)}`;
  return `\n${ran === 0 ? "Everything loads." : `${count(ran, "run")} succeeded.`}`;
}
