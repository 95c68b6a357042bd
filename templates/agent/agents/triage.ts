import { defineAgent } from "svc";

/** The input, from the webhook's field mapping in svc-project.yaml, from `svc run` or from the workflow. */
interface Issue {
  title?: string;
  body?: string | null;
  author?: string;
  label?: string;
  repository?: string;
}

/** Classifies an issue by kind and priority. It matches words; a language model could do it better. */
export default defineAgent((issue: Issue, ctx) => {
  if (!issue.title) {
    // A scheduled run has no input.
    console.log(`No issue to triage (trigger: ${ctx.trigger}).`);
    return { triaged: false };
  }

  const { kind, priority, missing } = classify(issue);
  console.log(`"${issue.title}" by ${issue.author ?? "unknown"}: ${kind}, ${priority}`);
  return { triaged: true, title: issue.title, repository: issue.repository ?? null, kind, priority, missing };
});

export function classify({ title, body, label }: Issue) {
  const text = `${title} ${body ?? ""}`.toLowerCase();
  const kind = label ?? kindOf(text);
  const missing = kind === "bug" && !/version|v?\d+\.\d+/.test(text) ? ["version"] : [];
  return { kind, priority: priorityOf(text, kind), missing };
}

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
