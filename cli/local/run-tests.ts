import { join } from "node:path";
import type { ProjectDefinition, TargetDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { compileMapping } from "../../project/mapping.ts";
import { didYouMean } from "../../project/suggest.ts";
import type { Attempt, Execution, ExecutionResponse, LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { CliError, Exit, UsageError } from "../app/errors.ts";
import { readInput } from "../app/input.ts";
import { loadValidProject } from "../project/load.ts";
import { print, printJson } from "../terminal/output.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { indent } from "../terminal/table.ts";
import { outputOf } from "../views/execution.ts";
import { readSecrets } from "./env-file.ts";
import { requestSources } from "./request-sources.ts";
import { findSamples, type TestCase } from "./samples.ts";
import {
  type FailedAttempt,
  framesOf,
  loadedText,
  logLine,
  responseText,
  resultText,
  summaryText,
  type TestResult,
} from "./test-results.ts";
import { openTestService, type TestService } from "./test-service.ts";

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
  const log: LogLine[] = [];
  const isLive = single !== null || options.verbose;
  const local = await openTestService({
    files,
    restrictsNetwork: definition.network !== null,
    secrets: readSecrets(root).values,
    live: isLive,
    onLog(entry) {
      if (isLive) report.line(logLine(entry));
      else log.push(entry);
    },
  });
  try {
    if (single !== null) return await runSingle(local, single, options);
    const { cases, unknown } = await findSamples(root, definition);
    for (const file of unknown) report.warning(`${file} matches no agent, workflow or webhook.`);
    const results: TestResult[] = [];
    for (const target of targets) {
      const samples = cases.filter((sample) => sample.target === target);
      if (samples.length === 0) {
        results.push({
          name: target.name,
          webhook: null,
          file: null,
          status: "loaded",
          took_ms: 0,
          attempts: 0,
        });
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
        for (const entry of log) report.line(indent(logLine(entry)));
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

async function runCase(local: TestService, testCase: TestCase, label: string): Promise<TestResult> {
  const startedAt = performance.now();
  const { target, webhook } = testCase;
  const { input, unmapped } = await inputOf(testCase);
  const execution = await local.run(target, input);
  const { attempt, response } = execution;
  const error = errorOf(execution);
  return {
    name: target.name,
    webhook: webhook?.slug ?? null,
    file: label,
    status: error === null ? "succeeded" : "failed",
    took_ms: Math.round(performance.now() - startedAt),
    attempts: attempt,
    ...(error === null && { output: await outputOf(execution) }),
    ...(response !== undefined && { response: responseOf(response) }),
    ...(execution.attempts.length > 0 && { failed_attempts: execution.attempts.map(failedAttempt) }),
    ...(webhook !== null && { unmapped }),
    ...(error !== null && { error }),
  };
}

async function runSingle(local: TestService, testCase: TestCase, options: TestOptions): Promise<void> {
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

/** The error of an execution that has ended; null for a success. */
function errorOf({ error, status }: Execution): TestResult["error"] | null {
  if (status === "succeeded") return null;
  if (error === undefined)
    return { name: "ExecutionError", message: `The execution was ${status}.`, stack: "" };
  return { name: error.name, message: error.message, stack: error.stack };
}

function responseOf({ status, headers, body }: ExecutionResponse): TestResult["response"] {
  return { status, headers, body };
}

function failedAttempt({ attempt, error }: Attempt): FailedAttempt {
  return { attempt, error: error === undefined ? "" : `${error.name}: ${error.message}` };
}
