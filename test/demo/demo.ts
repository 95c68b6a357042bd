/**
 * `npm run demo`: starts a server in a temporary folder, deploys the project that `svc init` creates, sends a recorded
 * GitHub event to its webhook, and shows the execution. Prints each command before it runs it, and removes everything
 * at the end.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { gitHubIssueEvent } from "./event.ts";

const main = resolve(import.meta.dirname, "../../cli/main.ts");
const scratch = mkdtempSync(join(tmpdir(), "svc-demo-"));
const project = join(scratch, "hello");
const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const env: NodeJS.ProcessEnv = { ...process.env, SVC_API_KEY: "", SVC_BASE_URL: "", SVC_LOG: "text" };
let server: ChildProcess | null = null;

try {
  await run();
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  if (server !== null) await stop(server);
  rmSync(scratch, { recursive: true, force: true });
}

async function run(): Promise<void> {
  title("These commands use the alias");
  printCommand(`alias svc="${process.execPath} ${main}"`);

  title("1. Start a server: one port, one folder");
  printCommand(`svc serve --port 0 --data ${join(scratch, "data")} &`);
  const { url, key } = await startServer();
  env.SVC_BASE_URL = url;
  env.SVC_API_KEY = key;
  printCommand(`export SVC_BASE_URL=${url} SVC_API_KEY=${key.slice(0, 12)}…`);

  title("2. Create a project and deploy it");
  printCommand(`cd ${scratch}`);
  svc(["init", "hello", "--template", "agent"], scratch);
  printCommand("cd hello");
  svc(["push", "--force"]);

  title("3. Show the webhook URL");
  svc(["webhook", "list"]);
  const webhook = webhookUrl();

  title("4. Send a GitHub event to the webhook and wait for the agent");
  const event = join(scratch, "event.json");
  writeFileSync(event, JSON.stringify(gitHubIssueEvent()));
  const executionId = await post(webhook, event);

  title("5. Show the execution and its logs");
  svc(["executions", "show", executionId]);
  svc(["logs", "--execution", executionId]);

  title("6. Stop the server");
  printCommand("kill %1");
}

function startServer(): Promise<{ url: string; key: string }> {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--data", join(scratch, "data")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  server = child;
  return new Promise((done, fail) => {
    let key = "";
    child.once("exit", (code) => fail(new Error(`the server ended with exit code ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      console.log(line.replace(/(export SVC_API_KEY=.{12}).*/, "$1…"));
      key = /export SVC_API_KEY=(\S+)/.exec(line)?.[1] ?? key;
      const url = /^Listening on (\S+)/.exec(line)?.[1];
      if (url !== undefined) done({ url, key });
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.removeAllListeners("exit");
    if (child.exitCode !== null) return done();
    child.once("exit", () => done());
    child.kill("SIGTERM");
  });
}

/** Prints a svc command, runs it in the project folder, and prints its output. */
function svc(args: string[], cwd = project): void {
  printCommand(`svc ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [main, ...args], { cwd, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`'svc ${args.join(" ")}' ended with exit code ${status}`);
}

function webhookUrl(): string {
  const { stdout } = spawnSync(process.execPath, [main, "webhook", "list", "--json"], { cwd: project, env });
  const list = JSON.parse(String(stdout)) as { agents: { webhooks: { url: string }[] }[] };
  const url = list.agents[0]?.webhooks[0]?.url;
  if (url === undefined) throw new Error("the project has no agent webhook");
  return url;
}

/** Sends the event with curl, or with fetch when curl is not installed. */
async function post(url: string, file: string): Promise<string> {
  const headers = { "Content-Type": "application/json", "X-GitHub-Event": "issues", Prefer: "wait=30" };
  const args = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const shown = args.map((arg) => (arg === "-H" ? arg : `'${arg}'`)).join(" ");
  printCommand(`curl -s ${shown} --data @${file} \\\n    ${url}`);
  const curl = spawnSync("curl", ["-s", ...args, "--data", `@${file}`, url], { encoding: "utf8" });
  const text =
    curl.error === undefined
      ? curl.stdout
      : await (
          await fetch(url, { method: "POST", headers, body: JSON.stringify(gitHubIssueEvent()) })
        ).text();
  console.log(text);
  const answer = JSON.parse(text) as { execution_id?: string; status?: string };
  if (answer.status !== "succeeded" || answer.execution_id === undefined) {
    throw new Error("the webhook's execution did not succeed");
  }
  return answer.execution_id;
}

function title(text: string): void {
  console.log(colour ? `\n\u001b[1m${text}\u001b[0m` : `\n${text}`);
}

function printCommand(command: string): void {
  console.log(colour ? `\n\u001b[36m$ ${command}\u001b[0m` : `\n$ ${command}`);
}
