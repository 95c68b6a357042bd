import { defineAgent } from "svc";

/** The input, from the webhook's field mapping in svc-project.yaml. */
interface Issue {
  /** Owner and name. */
  repository: string;
  number: number;
  title: string;
  body: string | null;
}

/** Labels a new issue. */
export default defineAgent(async (issue: Issue, ctx) => {
  const labels = labelsOf(issue);
  console.log(`#${issue.number} "${issue.title}": ${labels.join(", ")}`);
  const token = ctx.secrets.GITHUB_TOKEN;
  if (token === undefined) {
    ctx.log.warn("The secret GITHUB_TOKEN is not set, so the issue gets no labels.");
    return { labels, added: false };
  }
  await addLabels(issue, labels, { token, signal: ctx.signal });
  return { labels, added: true };
});

export function labelsOf({ title, body }: Pick<Issue, "title" | "body">): string[] {
  const text = `${title} ${body ?? ""}`.toLowerCase();
  if (/crash|panic|error|broken|fails?|down/.test(text)) return ["bug"];
  if (/docs?|readme|typo/.test(text)) return ["documentation"];
  if (/support|add|feature|allow/.test(text)) return ["enhancement"];
  return ["question"];
}

async function addLabels(
  { repository, number }: Issue,
  labels: readonly string[],
  { token, signal }: { token: string; signal: AbortSignal },
): Promise<void> {
  const response = await fetch(`https://api.github.com/repos/${repository}/issues/${number}/labels`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" },
    body: JSON.stringify({ labels }),
    signal,
  });
  // A failed attempt is retried.
  if (!response.ok) throw new Error(`GitHub answered ${response.status}: ${await response.text()}`);
}
