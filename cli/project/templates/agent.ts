/** `agents/triage.ts` of a new project. */
export const triageAgent = `import { defineAgent } from "svc";

/** What the webhook's field mapping in svc-project.yaml, \`svc run\` or the workflow hands over. */
interface Issue {
  title?: string;
  body?: string | null;
  author?: string;
  label?: string;
  repository?: string;
}

/** Reads an issue and says what kind it is and how urgent. Words decide here; a language model could. */
export default defineAgent((issue: Issue, ctx) => {
  if (!issue.title) {
    // The schedule gives no input: there is no issue to read.
    console.log(\`Nothing to triage (\${ctx.trigger}).\`);
    return { triaged: false };
  }

  const text = \`\${issue.title} \${issue.body ?? ""}\`.toLowerCase();
  const kind = issue.label ?? kindOf(text);
  const priority = priorityOf(text, kind);
  const missing = kind === "bug" && !/version|v?\\d+\\.\\d+/.test(text) ? ["version"] : [];

  console.log(\`"\${issue.title}" by \${issue.author ?? "somebody"}: \${kind}, \${priority}\`);
  return { triaged: true, title: issue.title, repository: issue.repository ?? null, kind, priority, missing };
});

function kindOf(text: string): string {
  if (/crash|panic|error|broken|fails?|down|500/.test(text)) return "bug";
  if (/docs?|readme|typo|document/.test(text)) return "docs";
  if (/support|add|feature|allow/.test(text)) return "feature";
  return "question";
}

function priorityOf(text: string, kind: string): "high" | "normal" | "low" {
  if (/security|data loss|crash|panic|everybody|down/.test(text)) return "high";
  return kind === "bug" ? "normal" : "low";
}
`;
