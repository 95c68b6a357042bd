import { type Change, emptySnapshot, type Plan, planChanges } from "../../project/plan/plan.ts";
import { snapshotOfDeployment } from "../../project/plan/snapshot.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { count } from "../terminal/format.ts";
import { report } from "../terminal/report.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { deployedText, secretAdvice } from "./deployment.ts";
import { printResource } from "./result.ts";

const signs = { added: "+", changed: "~", removed: "-" } as const;
const paints = { added: colors.green, changed: colors.yellow, removed: colors.red } as const;
/** More changed files are summarized, except with `--verbose`. */
const maxFiles = 10;
const kindWidth = "workflow".length;

/** Reports the changes between the active deployment and the one that replaces it. */
export function reportPlan(
  title: string,
  active: Deployment | null,
  wanted: Deployment,
  options: { verbose: boolean },
): void {
  const before = active === null ? emptySnapshot : snapshotOfDeployment(active);
  report.wrapped(title, 2);
  report.line(`${planText(planChanges(before, snapshotOfDeployment(wanted)), options)}\n`);
}

/** Prints the deployment that a push, a rollback or a promotion has activated. */
export async function printActivated(
  deployment: Deployment,
  values: { json: boolean },
  message: string,
): Promise<void> {
  if (!values.json) report.success(message);
  await printResource(deployment, values, () => deployedText(deployment));
  if (values.json || deployment.warnings.length === 0) return;
  for (const warning of deployment.warnings) report.warning(sanitizeLine(warning));
  report.hint(secretAdvice);
}

/** The lines of a plan, one for each change. */
export function planText(plan: Plan, options: { verbose: boolean }): string {
  const kinds = [
    ["agent", plan.agents],
    ["workflow", plan.workflows],
    ["webhook", plan.webhooks],
    ["schedule", plan.schedules],
  ] as const;
  const lines = kinds.flatMap(([kind, changes]) => changes.flatMap((change) => changeLines(kind, change)));
  if (options.verbose || plan.files.length <= maxFiles) {
    lines.push(...plan.files.flatMap((change) => changeLines("file", change)));
  } else {
    lines.push(`    ${colors.dim("files".padEnd(kindWidth))}  ${fileSummary(plan.files)}`);
  }
  return lines.length === 0 ? "  no changes" : lines.join("\n");
}

function changeLines(kind: string, change: Change): string[] {
  const paint = paints[change.change];
  const head = `  ${paint(signs[change.change])} ${kind.padEnd(kindWidth)}  ${paint(sanitizeLine(change.key))}`;
  const margin = " ".repeat(kindWidth + 6);
  return [head, ...change.details.map((detail) => `${margin}${colors.dim(sanitizeLine(detail))}`)];
}

function fileSummary(files: readonly Change[]): string {
  const numbers = (["added", "changed", "removed"] as const)
    .map((change) => [files.filter((file) => file.change === change).length, change] as const)
    .filter(([number]) => number > 0)
    .map(([number, change]) => `${number} ${change}`);
  return `${numbers.join(", ")} (${count(files.length, "file")}; --verbose lists them)`;
}
