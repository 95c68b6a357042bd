/**
 * Measures a call through the RPC pipeline (authentication, scope, validation, deadline, mapping of errors) against a bare
 * handler of connect-node with the same message behind the same listener: `npm run bench:rpc [rounds]`.
 *
 * Rounds alternate between two processes. The figure is the processor time of the server per call, which other load on the
 * machine disturbs less than the elapsed time. The pipeline may add at most 15 % in the median.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toJson } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ExecutionSchema, ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { apiKey, execution, request } from "./message.ts";

const bound = 1.15;
const concurrency = 16;
const callsPerRound = 1_000;
const rounds = Math.max(5, Number(process.argv[2] ?? 9));

const protocols = {
  gRPC: (baseUrl: string) => createGrpcTransport({ ...options(baseUrl), baseUrl }),
  "Connect with JSON": (baseUrl: string) =>
    createConnectTransport({ ...options(baseUrl), baseUrl, httpVersion: "2", useBinaryFormat: false }),
};

interface Server {
  child: ChildProcess;
  url: string;
}

const folder = mkdtempSync(join(tmpdir(), "svc-bench-rpc-"));
const servers = { pipeline: await start("pipeline"), bare: await start("bare") };
let slow = false;
try {
  for (const [name, transport] of Object.entries(protocols)) {
    const run = async ({ child, url }: Server) => {
      const client = createClient(ExecutionService, transport(url));
      return measure(client, child);
    };
    for (const server of Object.values(servers)) await run(server);
    const ratios: number[] = [];
    const times: Record<"pipeline" | "bare", number[]> = { pipeline: [], bare: [] };
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? (["pipeline", "bare"] as const) : (["bare", "pipeline"] as const);
      for (const kind of order) times[kind].push(await run(servers[kind]));
      ratios.push((times.pipeline.at(-1) ?? Number.NaN) / (times.bare.at(-1) ?? Number.NaN));
    }
    const [low, median, high] = spread(ratios);
    console.log(
      `${name}: pipeline ${spread(times.pipeline)[1].toFixed(0)} µs, bare ${spread(times.bare)[1].toFixed(0)} µs of processor time per call; ratio ${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}), at most ${bound}`,
    );
    slow ||= median > bound;
  }
} finally {
  for (const { child } of Object.values(servers)) child.disconnect();
  rmSync(folder, { recursive: true });
}
process.exit(slow ? 1 : 0);

function options(baseUrl: string) {
  const authorize: Interceptor = (next) => (call) => {
    call.header.set("authorization", `Bearer ${apiKey}`);
    return next(call);
  };
  return { interceptors: [authorize], sessionManager: new Http2SessionManager(baseUrl) };
}

async function start(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL("server.ts", import.meta.url)), [kind, folder]);
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

function spread(values: readonly number[]): [low: number, median: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return [at(0), at(0.5), at(1)];
}
