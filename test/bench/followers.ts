/**
 * `node test/bench/followers.ts [--pairs 3] [--seconds 4] [--json]`: webhooks at the maximum rate, each with an execution
 * that writes a log entry, with and without 100 streams that follow the log and 100 that watch an execution, in alternating
 * rounds. The filters of the log streams match nothing, or everything.
 */
import { type ClientRequest, get } from "node:http";
import { parseArgs } from "node:util";
import { deploy } from "../support/project.ts";
import { run } from "../support/rest.ts";
import { TestServer } from "../support/server.ts";
import { load } from "./limit/child.ts";

const streams = 100;
const rate = "10000000";

export interface FollowersRound {
  filter: "nothing" | "everything";
  /** Accepted webhooks per second. */
  alone: number;
  followed: number;
  ratio: number;
  /** Entries that all log streams received each second. */
  entriesPerSecond: number;
}

export async function followers(pairs: number, seconds: number): Promise<FollowersRound[]> {
  const server = new TestServer("node", {
    env: {
      SVC_WEBHOOK_RATE: rate,
      SVC_WEBHOOK_BURST: rate,
      SVC_ORGANIZATION_RATE: rate,
      SVC_ORGANIZATION_BURST: rate,
    },
  });
  await server.start();
  try {
    const { webhooks } = await deploy(server, {
      agents: {
        logs: {
          code: "export default async () => { console.log('one entry'); };",
          webhooks: [{ slug: "in" }],
        },
        waits: { code: "export default () => new Promise(() => {});", timeout: 3600 },
      },
    });
    const url = webhooks[0]?.url ?? "";
    const { execution_id: watched } = await run(server, "waits");
    const accepts = async (): Promise<number> =>
      (await load({ url, bodyBytes: 150, seconds, headers: {} })).perSecond;
    await accepts();
    const rounds: FollowersRound[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      for (const filter of ["nothing", "everything"] as const) {
        const alone = await accepts();
        const contains = filter === "nothing" ? "&contains=no%20entry%20has%20this" : "";
        const logs = open(server, `/api/v1/logs?follow=true&lines=0${contains}`);
        const watchers = open(server, `/api/v1/executions/${watched}/watch`);
        await Promise.all([logs.opened, watchers.opened]);
        const before = logs.lines();
        const startedAt = performance.now();
        const followed = await accepts();
        const entriesPerSecond = ((logs.lines() - before) * 1000) / (performance.now() - startedAt);
        logs.close();
        watchers.close();
        rounds.push({ filter, alone, followed, ratio: followed / alone, entriesPerSecond });
      }
    }
    return rounds;
  } finally {
    await server.discard(false);
  }
}

/** Opens streams and counts the lines that they receive. */
function open(
  server: TestServer,
  path: string,
): { opened: Promise<unknown>; lines(): number; close(): void } {
  let lines = 0;
  const requests: ClientRequest[] = [];
  const opened = Array.from({ length: streams }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const headers = { authorization: `Bearer ${server.apiKey}` };
    const request = get(`${server.url}${path}`, { agent: false, headers }, (response) => {
      if (response.statusCode !== 200)
        reject(new Error(`A stream was answered with ${response.statusCode}.`));
      response.on("data", (chunk: Buffer) => {
        for (const byte of chunk) if (byte === 0x0a) lines++;
      });
      response.on("error", () => {});
      resolve();
    });
    request.on("error", reject);
    requests.push(request);
    return promise;
  });
  return {
    opened: Promise.all(opened),
    lines: () => lines,
    close() {
      for (const request of requests) request.destroy();
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      pairs: { type: "string", default: "3" },
      seconds: { type: "string", default: "4" },
      json: { type: "boolean", default: false },
    },
  });
  const rounds = await followers(Number(values.pairs), Number(values.seconds));
  if (values.json) console.log(JSON.stringify({ case: "followers", rounds }));
  else {
    for (const { filter, alone, followed, ratio, entriesPerSecond } of rounds) {
      console.log(
        `filters match ${filter}: ${Math.round(followed)} accepted/s, alone ${Math.round(alone)}/s, ratio ${ratio.toFixed(2)}; ${Math.round(entriesPerSecond)} entries/s sent`,
      );
    }
  }
  process.exit();
}
