/** A recorded GitHub event, from `@octokit/webhooks-examples`: an issue with a label. */
import { createRequire } from "node:module";

interface IssueEvent {
  action: string;
  issue: { title: string; labels: { name: string }[]; user: { login: string } };
  repository: { full_name: string };
}

/** @throws Error when the package no longer has such an event. */
export function gitHubIssueEvent(): IssueEvent {
  const require = createRequire(import.meta.url);
  const index = require("@octokit/webhooks-examples/api.github.com/index.json") as {
    name: string;
    examples: IssueEvent[];
  }[];
  const event = index
    .find((entry) => entry.name === "issues")
    ?.examples.find((example) => example.action === "opened" && example.issue.labels.length > 0);
  if (event === undefined) throw new Error("@octokit/webhooks-examples has no opened issue with a label.");
  return event;
}
