import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { compileMapping } from "../../project/mapping.ts";
import { didYouMean } from "../../project/suggest.ts";
import type { LogEntry } from "../../server/executions/pool/index.ts";
import { CliError, Exit, UsageError } from "../app/errors.ts";
import { readInput } from "../app/input.ts";
import { loadValidProject } from "../project/load.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { indent } from "../terminal/table.ts";
import { moduleErrors } from "./module-errors.ts";
import { errorOf, LocalProject } from "./pool.ts";
import { requestSources } from "./request-sources.ts";
import { findSamples, type TestCase } from "./samples.ts";
import {
  framesOf,
  loadedText,
  logLine,
  responseText,
  resultText,
  summaryText,
  type TestResult,
} from "./test-results.ts";

export interface TestOptions {
  name: string | undefined;
  data: string | undefined;
  webhook: string | undefined;
  json: boolean;
  verbose: boolean;
}

/**
 * Validates the project in a folder and runs one target with an input, or the targets with their samples.
 *
 * @throws Exit with code 1 when a run failed
 */
export async function runTests(root: string, options: TestOptions): Promise<void> {
  if (options.data !== undefined && options.name === undefined) {
    throw new UsageError(
      "--data requires an agent or a workflow.",
      "Example: svc test triage --data issue.json",
    );
  }
  if (options.webhook !== undefined && options.data === undefined) {
    throw new UsageError("--webhook requires a payload.", "Pass it with --data <file>.");
  }
  const { definition, files } = await loadValidProject(root);
  const targets = selectTargets(definition, options.name);
  const single = options.data === undefined ? null : singleCase(targets, options.webhook, options.data);
  const log: { name: string | null; entry: LogEntry }[] = [];
  const local = await LocalProject.open({
    definition,
    files,
    secrets: secretsFrom(process.env),
    onLog(name, entry) {
      if (single !== null || options.verbose) report.line(logLine(name, entry));
      else log.push({ name, entry });
    },
  });
  try {
    const failedModules = await local.check(targets);
    if (failedModules.length > 0) throw moduleErrors(failedModules);
    await local.warm();
    if (single !== null) return await runSingle(local, single, options);
    const { cases, unknown } = await findSamples(root, definition);
    for (const file of unknown) report.warning(`${file} matches no agent, workflow or webhook.`);
    const results: TestResult[] = [];
    for (const target of targets) {
      const samples = cases.filter((sample) => sample.target === target);
      if (samples.length === 0) {
        results.push({ name: target.name, webhook: null, file: null, status: "loaded", took_ms: 0 });
        if (!options.json) print(loadedText(target.name));
      }
      for (const sample of samples) {
        log.length = 0;
        const requestFile = sample.requestFile === null ? null : join(root, sample.requestFile);
        const located = { ...sample, file: join(root, sample.file), requestFile };
        const result = await runCase(local, located, sample.file);
        results.push(result);
        if (options.json) continue;
        print(resultText(result));
        if (result.error === undefined) continue;
        for (const { name, entry } of log) report.line(indent(logLine(name, entry)));
      }
    }
    const failed = results.filter(({ status }) => status === "failed");
    if (options.json) printJson({ ok: failed.length === 0, results });
    else report.line(summaryText(results, failed.length));
    if (failed.length > 0) throw new Exit(1);
  } finally {
    await local.close();
  }
}

async function runCase(local: LocalProject, testCase: TestCase, label: string): Promise<TestResult> {
  const startedAt = performance.now();
  const { target, webhook } = testCase;
  const { input, unmapped } = await inputOf(testCase);
  const { outcome, response } = await local.run(target, input);
  const error = errorOf(outcome);
  return {
    name: target.name,
    webhook: webhook?.slug ?? null,
    file: label,
    status: error === null ? "succeeded" : "failed",
    took_ms: Math.round(performance.now() - startedAt),
    ...(outcome.type === "succeeded" && { output: JSON.parse(outcome.output) }),
    ...(response !== null && { response }),
    ...(webhook !== null && { unmapped }),
    ...(error !== null && { error }),
  };
}

async function runSingle(local: LocalProject, testCase: TestCase, options: TestOptions): Promise<void> {
  const result = await runCase(local, testCase, testCase.file);
  if (options.json) printJson(result);
  else if (result.error === undefined) printJson(result.output);
  if (result.response !== undefined && !options.json) report.line(responseText(result.response));
  for (const path of result.unmapped ?? []) {
    report.warning(`${sanitizeLine(path)} does not exist in the payload.`);
  }
  if (result.error === undefined) return;
  const { name, message, stack } = result.error;
  report.error(`${result.name} failed: ${sanitizeLine(`${name}: ${message}`)}`, framesOf(stack));
  throw new Exit(1);
}

async function inputOf({
  target,
  webhook,
  file,
  requestFile,
}: TestCase): Promise<{ input: JsonObject; unmapped: string[] }> {
  const data = await readInput(file);
  if (webhook === null) return { input: data, unmapped: [] };
  const request = requestFile === null ? {} : await readInput(requestFile);
  return compileMapping(webhook.fieldMapping).apply(data, requestSources(request, target, webhook));
}

function selectTargets(definition: ProjectDefinition, name: string | undefined): TargetDefinition[] {
  const all = [...definition.agents, ...definition.workflows];
  const found = all.filter((target) => name === undefined || target.name === name);
  if (name === undefined || found.length > 0) return found;
  const names = all.map((target) => target.name);
  throw new CliError(
    `No agent or workflow "${sanitizeLine(name)}" in svc-project.yaml${didYouMean(name, names)}.`,
    names.length === 0 ? "Add one with `svc create agent <name>`." : `Defined names: ${names.join(", ")}.`,
  );
}

function singleCase(targets: readonly TargetDefinition[], slug: string | undefined, file: string): TestCase {
  const [target] = targets;
  if (target === undefined) throw new UsageError("--data requires an agent or a workflow.", "Pass its name.");
  if (slug === undefined) return { target, webhook: null, file, requestFile: null };
  const webhook = target.webhooks.find((candidate) => candidate.slug === slug);
  if (webhook !== undefined) return { target, webhook, file, requestFile: null };
  const slugs = target.webhooks.map((candidate) => candidate.slug);
  throw new CliError(
    `${target.name} has no webhook "${sanitizeLine(slug)}"${didYouMean(slug, slugs)}.`,
    slugs.length === 0
      ? "Add `webhooks` to it in svc-project.yaml."
      : `Defined webhooks: ${slugs.join(", ")}.`,
  );
}

/** The variable `SVC_SECRET_NAME` is the secret `NAME`. */
function secretsFrom(env: NodeJS.ProcessEnv): Record<string, string> {
  const prefix = "SVC_SECRET_";
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
