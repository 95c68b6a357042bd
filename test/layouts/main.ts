/** Runs the commands that a project needs in every layout: `npm run test:layouts [-- part of a name]`. Prints a table. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newProject } from "../../cli/project/templates/project.ts";
import { TestServer } from "../support/server.ts";
import { type Environment, openEnvironment } from "./environment.ts";
import { type Layout, layouts } from "./layouts.ts";

const [part = ""] = process.argv.slice(2);
const server = new TestServer("node", {});
await server.start();
await using environment = await openEnvironment();
let failures = 0;
for (const [index, layout] of layouts.filter(({ name }) => name.includes(part)).entries()) {
  const failed = await check(environment, layout, join(environment.folder, `layout-${index}`));
  failures += failed.length;
  for (const text of failed) console.log(text);
}
await server.discard(false);
if (failures === 0) rmSync(environment.folder, { recursive: true });
console.log(failures === 0 ? "Every layout works." : `${failures} commands failed in ${environment.folder}.`);
process.exitCode = failures === 0 ? 0 : 1;

/** @returns a text for each command that failed */
async function check({ shell }: Environment, layout: Layout, cwd: string): Promise<string[]> {
  const { runtime, svc } = layout;
  const options = { folder: "shop", template: "workflow", runtime, svc: "npm:svc-agents@^0.1.0" } as const;
  for (const [path, text] of Object.entries(newProject(options))) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const service = `SVC_API_KEY=${server.apiKey} SVC_BASE_URL=${server.url}`;
  const commands = [
    ...layout.install,
    ...(layout.refusal === undefined
      ? [
          `${svc} --version`,
          `${svc} test`,
          `${service} ${svc} push --dry-run`,
          `${service} ${svc} push --yes`,
          `${service} ${svc} run triage --data samples/triage.json`,
          `${service} ${svc} webhook list`,
          `${svc} doctor --json > /dev/null; ${svc} webhook add github --target triage`,
        ]
      : [`${svc} test`]),
  ];
  const failed: string[] = [];
  const times: string[] = [];
  for (const command of commands) {
    const { code, output, tookMs } = await shell(
      runtime,
      `timeout 60 sh -c '${command.replaceAll("'", "'\\''")}'`,
      cwd,
    );
    times.push(`${tookMs}`);
    const isRefusal = layout.refusal !== undefined && command === commands.at(-1);
    const ok = isRefusal ? code === 1 && layout.refusal?.test(output) : code === 0;
    if (!ok) failed.push(`  ${command}\n  exited with ${code}:\n${output.slice(-2000)}`);
  }
  console.log(`${failed.length === 0 ? "ok    " : "FAILED"} ${layout.name.padEnd(50)} ${times.join(" ")} ms`);
  return failed;
}
