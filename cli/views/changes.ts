import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import { type Change, nothing, type Plan, planChanges } from "../diff/changes.ts";
import { sideOfDeployment } from "../diff/snapshot.ts";
import { out } from "../terminal/colors.ts";
import { cleanLine, count } from "../terminal/format.ts";
import { say } from "../terminal/report.ts";

const signs = { added: "+", changed: "~", removed: "-" } as const;
const paints = { added: out.green, changed: out.yellow, removed: out.red } as const;
/** More changed files than this are counted; `--verbose` shows all. */
const shownFiles = 10;

/** Says what changes when one deployment takes the place of another. */
export function sayPlan(
  title: string,
  active: Deployment | null,
  wanted: Deployment,
  options: { verbose: boolean },
): void {
  const plan = planChanges(active === null ? nothing : sideOfDeployment(active), sideOfDeployment(wanted));
  say.line(title);
  say.line(`${planText(plan, options) || "  nothing differs"}\n`);
}

/** A plan as people read it; an empty string for an empty one. */
export function planText(plan: Plan, options: { verbose: boolean }): string {
  const kinds = [
    ["agent", plan.agents],
    ["workflow", plan.workflows],
    ["webhook", plan.webhooks],
    ["schedule", plan.schedules],
  ] as const;
  const lines = kinds.flatMap(([kind, changes]) => changes.flatMap((change) => changeLines(kind, change)));
  const files = options.verbose || plan.files.length <= shownFiles ? plan.files : [];
  lines.push(...files.flatMap((change) => changeLines("file", change)));
  if (files.length < plan.files.length)
    lines.push(`  ${out.dim(`  ${"files".padEnd(width)}`)}  ${summary(plan.files)}`);
  return lines.join("\n");
}

const width = "workflow".length;

function changeLines(kind: string, change: Change): string[] {
  const paint = paints[change.change];
  const head = `  ${paint(signs[change.change])} ${kind.padEnd(width)}  ${paint(cleanLine(change.key))}`;
  return [head, ...change.details.map((detail) => `    ${" ".repeat(width)}  ${out.dim(cleanLine(detail))}`)];
}

function summary(changes: readonly Change[]): string {
  const numbers = (["added", "changed", "removed"] as const)
    .map((change) => ({ change, number: changes.filter((one) => one.change === change).length }))
    .filter(({ number }) => number > 0)
    .map(({ change, number }) => `${number} ${change}`);
  return `${numbers.join(", ")} (${count(changes.length, "file")}; --verbose lists them)`;
}
