/** curl, a Python client and the web client of Connect. */
import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { describe, expect, test } from "vitest";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { deploy } from "../support/project.ts";
import { onRuntime } from "../support/suite.ts";

const run = promisify(execFile);
const python = ["python3", "/usr/bin/python3"].find((program) => succeeds(program, "-c", "import grpc"));
const curl = succeeds("curl", "--version");
if (python === undefined) console.log("Skipped the Python client: python3 has no package grpcio.");
if (!curl) console.log("Skipped curl: it is not on the PATH.");

onRuntime("deno", "other clients", {}, (server) => {
  test.runIf(python !== undefined)("a Python client of grpcio calls it", async () => {
    const script = fileURLToPath(new URL("client.py", import.meta.url));
    const { stdout } = await run(python ?? "", [script, new URL(server.url).host, server.apiKey], {
      timeout: 30_000,
    });
    expect(stdout.trim().split("\n")).toEqual([
      "health [8, 1]",
      "check True",
      "no key UNAUTHENTICATED",
      "not found NOT_FOUND",
      "unknown method UNIMPLEMENTED",
      "deadline DEADLINE_EXCEEDED",
      "watch [8, 1]",
      "large RESOURCE_EXHAUSTED",
    ]);
  });

  describe.runIf(curl)("curl", () => {
    const call = async (...args: string[]) =>
      (
        await run("curl", [
          "--silent",
          "--max-time",
          "20",
          "--header",
          `Authorization: Bearer ${server.apiKey}`,
          ...args,
        ])
      ).stdout;

    test.each(["--http1.0", "--http1.1", "--http2-prior-knowledge"])(
      "calls REST and Connect with %s",
      async (version) => {
        expect(JSON.parse(await call(version, `${server.url}/health`))).toMatchObject({ status: "ok" });
        const path = `${server.url}/svc.v1.HealthService/Check`;
        expect(JSON.parse(await call(version, "--json", "{}", path))).toMatchObject({ status: "ok" });
        expect(await call(version, "--head", `${server.url}/livez`)).toContain("200");
        const gzip = await call(version, "--compressed", "--json", "{}", path);
        expect(JSON.parse(gzip)).toMatchObject({ status: "ok" });
        const expecting = ["--header", "Expect: 100-continue", "--json", "{}"];
        expect(JSON.parse(await call(version, ...expecting, path))).toMatchObject({ status: "ok" });
      },
    );
  });

  test.each(["Connect", "gRPC-Web"])("the web client of Connect calls it over %s", async (protocol) => {
    await deploy(server, { agents: { prints: "export default () => console.log('hello');" } });
    const create = protocol === "Connect" ? createConnectTransport : createGrpcWebTransport;
    const transport = create({
      baseUrl: server.url,
      useBinaryFormat: true,
      ...(protocol === "Connect" ? { useHttpGet: true } : {}),
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${server.apiKey}`);
          return next(request);
        },
      ],
    });
    expect((await createClient(HealthService, transport).check({})).status).toBe("ok");
    const executions = createClient(ExecutionService, transport);
    const { executionId } = await executions.runExecution({ name: "prints" });
    const events = await Array.fromAsync(executions.watchExecution({ executionId }));
    expect(events.flatMap(({ event }) => (event.case === "log" ? event.value.message : []))).toEqual([
      "hello",
    ]);
    const error = await executions.getExecution({ executionId: "exe_1" }).catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.NotFound });
    const late = Array.fromAsync(executions.tailLogs({ follow: true }, { timeoutMs: 300 }));
    expect(await late.catch(ConnectError.from)).toMatchObject({ code: Code.DeadlineExceeded });
  });
});

function succeeds(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
