/** The runners of a killed server end, whatever they are doing. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chooseBoundary } from "../../server/executions/sandbox/choose-boundary.ts";
import { commandOf, commandRuntimes, type Runtime, root, runtimes } from "../support/runtimes.ts";

/** The activity of each runner when the server is killed. */
const occupations = ["spin", "hang", "idle"];

let server: Server;
beforeAll(async () => {
  server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

const options = { runtime: null, path: null, network: [], dataDir: tmpdir(), env: process.env };
const { withoutSandbox } = chooseBoundary({ ...options, sandbox: "auto" });
if (withoutSandbox !== null) console.log(`Not tested inside bubblewrap: ${withoutSandbox}.`);

test.each(runtimes)("kill -9 of a server on %s ends its runners", (runtime) => killServer(runtime, null));

const sandboxed = runtimes.flatMap((runtime) =>
  commandRuntimes(runtime).map((runner) => ({ runtime, runner })),
);
test.skipIf(withoutSandbox !== null).each(sandboxed)(
  "kill -9 of a server on $runtime ends its runners on $runner inside bubblewrap",
  ({ runtime, runner }) => killServer(runtime, runner),
);

async function killServer(runtime: Runtime, runner: Runtime | null): Promise<void> {
  const lives: Socket[] = [];
  const connected = Promise.withResolvers<void>();
  const onConnection = (socket: Socket): void => {
    socket.on("error", () => {});
    if (lives.push(socket) === occupations.length) connected.resolve();
  };
  server.on("connection", onConnection);
  const host = startHost(runtime, runner);
  try {
    await connected.promise;
    const pids = await Promise.all(lives.map(async (socket) => Number((await once(socket, "data"))[0])));
    // Each sandbox counts its processes from 1.
    if (runner === null) expect(new Set([...pids, host.process.pid]).size).toBe(occupations.length + 1);
    const spinning = lives.map((socket) => once(socket, "data"));
    for (const socket of lives) socket.write("go on");
    await Promise.all(spinning);
    const ended = lives.map((socket) => once(socket, "close"));
    host.process.kill("SIGKILL");
    // The kernel closes a socket when its process has ended.
    await Promise.all(ended);
  } finally {
    server.off("connection", onConnection);
    host.process.kill("SIGKILL");
    rmSync(await host.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startHost(
  runtime: Runtime,
  runner: Runtime | null,
): { process: ChildProcess; folder: Promise<string> } {
  const [command, ...args] = commandOf(runtime);
  const { port } = server.address() as { port: number };
  const child = spawn(
    command,
    [...args, join(root, "test/executions/host.ts"), String(port), ...occupations],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...(runner !== null && { LAB_RUNNER: runner }) },
    },
  );
  const folder = once(createInterface({ input: child.stdout }), "line").then(([line]) => String(line));
  return { process: child, folder };
}
