/**
 * A call through the RPC pipeline (authentication, scope, validation, deadline, mapping of errors) and through a bare handler
 * of connect-node, with the same message behind the same listener. The value is the processor time of the server for each
 * call, which other load on the machine disturbs less than the elapsed time.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { toJson } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ExecutionSchema, ExecutionService } from "../../../../proto/svc/v1/execution_pb.ts";
import { apiKey, execution, request } from "../../rpc/message.ts";
import type { Goal, Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { withFolder } from "../../runner/server.ts";

const concurrency = 16;
const callsPerRound = 1_000;

const protocols = {
  gRPC: (baseUrl: string) => createGrpcTransport({ ...options(baseUrl), baseUrl }),
  "Connect with JSON": (baseUrl: string) =>
    createConnectTransport({ ...options(baseUrl), baseUrl, httpVersion: "2", useBinaryFormat: false }),
};

interface Server {
  child: ChildProcess;
  url: string;
}

export async function run({ rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const servers = { pipeline: await start("pipeline", folder), bare: await start("bare", folder) };
    const rows: Row[] = [];
    for (const [name, transport] of Object.entries(protocols)) {
      const measureAt = ({ child, url }: Server) => {
        const client = createClient(ExecutionService, transport(url));
        return () => measure(client, child);
      };
      const programs = await interleave(
        { svc: measureAt(servers.pipeline), "connect-node": measureAt(servers.bare) },
        { rounds: rounds * 3, warmUps: 2 },
      );
      const goals: Goal[] = [{ program: "connect-node", of: "ratio", atMost: 1.15 }];
      rows.push({ what: name, unit: "µs of processor time for each call", programs, goals });
    }
    for (const { child } of Object.values(servers)) child.disconnect();
    return rows;
  });
}

function options(baseUrl: string) {
  const authorize: Interceptor = (next) => (call) => {
    call.header.set("authorization", `Bearer ${apiKey}`);
    return next(call);
  };
  return { interceptors: [authorize], sessionManager: new Http2SessionManager(baseUrl) };
}

async function start(kind: string, folder: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL("../../rpc/server.ts", import.meta.url)), [kind, folder]);
  const [port] = await once(child, "message");
  return { child, url: `http://127.0.0.1:${port}` };
}

/** The processor time of the server per call, in µs. */
async function measure(client: Client<typeof ExecutionService>, child: ChildProcess): Promise<number> {
  const [answer] = await Promise.all([client.runExecution(request), client.runExecution(request)]);
  const same = JSON.stringify(toJson(ExecutionSchema, answer));
  if (same !== JSON.stringify(toJson(ExecutionSchema, execution)))
    throw new Error(`The response is ${same}.`);
  const before = await cpuTime(child);
  let left = callsPerRound;
  const caller = async () => {
    while (left-- > 0) await client.runExecution(request);
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return ((await cpuTime(child)) - before) / callsPerRound;
}

async function cpuTime(child: ChildProcess): Promise<number> {
  child.send("cpu");
  const [micros] = await once(child, "message");
  return micros as number;
}
