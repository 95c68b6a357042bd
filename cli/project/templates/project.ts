import { triageAgent } from "./agent.ts";
import { triageBacklogWorkflow } from "./workflow.ts";

/**
 * The files of a new project by path.
 *
 * @param folder - name of the folder, which becomes the project's name without characters that a name cannot have
 */
export function newProject(folder: string): Record<string, string> {
  const name = folder.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+|-+$/g, "") || "my-project";
  return {
    "svc-project.yaml": projectFile(name.slice(0, 64)),
    "agents/triage.ts": triageAgent,
    "workflows/triage-backlog.ts": triageBacklogWorkflow,
    "samples/triage.json": json({
      title: "Crash when the config file is empty",
      body: "Version 2.1.0. Run `app --config empty.yaml`: it panics and exits with 134.",
      author: "octocat",
      label: "bug",
      repository: "octocat/hello-world",
    }),
    "samples/triage.github-issue.json": json({
      action: "opened",
      issue: {
        number: 42,
        title: "Document the --json flag",
        body: "The README does not mention it.",
        user: { login: "hubot" },
        labels: [{ name: "docs" }],
      },
      repository: { full_name: "octocat/hello-world" },
    }),
    "samples/triage-backlog.json": json({
      issues: [
        { title: "Typo in the README", body: "It says teh.", author: "hubot" },
        {
          title: "Login is down",
          body: "Since 10:00 everybody gets a 500.",
          author: "octocat",
          label: "bug",
        },
        { title: "Support dark mode", body: "", author: "hubot" },
      ],
    }),
    ".gitignore": ["node_modules/", "dist/", ".svc/", ".env", ".env.*", "*.log", ""].join("\n"),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function projectFile(name: string): string {
  return `# Deployed by \`svc push\`.
name: ${JSON.stringify(name)}
version: "1.0.0"

agents:
  # Module: agents/triage.ts
  - name: triage
    display_name: Issue triage
    # A failed attempt is retried up to three times, after at most 1, 2 and 4 seconds.
    enable_retry: true
    retry_policy:
      max_retries: 3
      strategy: exponential
    webhooks:
      # POST <service>/webhook/<organization>/agent/triage/github-issue
      - slug: github-issue
        # Path in the payload: name of the input field. The input contains only these fields.
        field_mapping:
          issue.title: title
          issue.body: body
          issue.user.login: author
          issue.labels[0].name: label
          repository.full_name: repository

workflows:
  # Module: workflows/triage-backlog.ts. It runs the agent for each issue.
  - name: triage-backlog
    display_name: Backlog triage
    webhooks:
      # Without a field mapping, the payload is the input.
      - slug: backlog

schedules:
  agents:
    triage:
      # Minute, hour, day of month, month, day of week: Monday to Friday at 9:00.
      cron: "0 9 * * 1-5"
      timezone: UTC
      enabled: true
`;
}
