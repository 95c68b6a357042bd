import { defineAgent, FinalError } from "svc";
import { isRestError, RestPlugin } from "svc/plugin";
import { labelsOf } from "./lib/labels.ts";

interface Issue {
  repository: string;
  number: number;
  title: string;
  body: string | null;
}

/** Labels a new issue. Without the secret GITHUB_TOKEN it returns the labels and changes nothing. */
export default defineAgent(async (issue: Issue, ctx) => {
  const labels = labelsOf(`${issue.title}\n${issue.body ?? ""}`);
  const { GITHUB_TOKEN, GITHUB_API_URL } = ctx.secrets;
  if (GITHUB_TOKEN === undefined) {
    ctx.log.warn("The secret GITHUB_TOKEN is not set, so the issue keeps its labels.");
    return { labels, applied: false };
  }
  await using github = new RestPlugin({
    baseUrl: GITHUB_API_URL ?? "https://api.github.com",
    apiKey: GITHUB_TOKEN,
    headers: { accept: "application/vnd.github+json" },
  });
  try {
    // GitHub ignores labels that the issue has, so that a retry does no harm.
    await github.post(`/repos/${issue.repository}/issues/${issue.number}/labels`, { labels });
  } catch (error) {
    // Another attempt does not help when the token lacks the permission, or the issue is gone.
    if (isRestError(error) && [401, 403, 404, 410].includes(error.status ?? 0)) {
      throw new FinalError(error.message, { cause: error });
    }
    throw error;
  }
  ctx.log.info(`${issue.repository}#${issue.number}: ${labels.join(", ")}`);
  return { labels, applied: true };
});
