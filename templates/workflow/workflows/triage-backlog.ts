import { defineWorkflow } from "svc";

interface Backlog {
  issues?: { title: string; body?: string; author?: string; label?: string }[];
}

interface Triaged {
  title: string;
  kind: string;
  priority: string;
}

/** Runs the triage agent for every issue and returns the results by priority. */
export default defineWorkflow(async (backlog: Backlog, ctx) => {
  const issues = backlog.issues ?? [];
  // Each run of the agent is a child execution. When the workflow is retried, the key returns its stored result.
  const results = await Promise.all(
    issues.map((issue, index) => ctx.run("triage", issue, { key: `issue-${index}` })),
  );
  const triaged = byPriority(results as unknown as Triaged[]);
  console.log(`Triaged ${triaged.length} issues.`);
  return { count: triaged.length, issues: triaged };
});

const order = ["high", "normal", "low"];

export function byPriority(issues: readonly Triaged[]): Triaged[] {
  return issues.toSorted((a, b) => order.indexOf(a.priority) - order.indexOf(b.priority));
}
