/** Throughput of an agent with schemas, compared with the same agent without them, in alternating rounds. */
import { readFileSync } from "node:fs";
import { deployPackage, packProject } from "../../support/project.ts";
import type { TestServer } from "../../support/server.ts";
import { load } from "../limit/child.ts";
import type { LoadOptions } from "../limit/load.ts";
import { Counter, withServer } from "./setup.ts";

/** Required share of the executions per second without schemas. */
const bound = 0.9;

const run = "async (input) => ({ n: input.n, text: input.text })";
const webhooks = [{ slug: "in" }];
const agents = {
  untyped: { code: `export default ${run};`, webhooks },
  typed: {
    code: `import { defineAgent } from "svc";
import { z } from "zod";
export default defineAgent({
  input: z.object({ n: z.number(), text: z.string(), tags: z.array(z.object({ id: z.number() })) }),
  output: z.object({ n: z.number(), text: z.string() }),
  run: ${run},
});`,
    webhooks,
  },
};

const input = { n: 1, text: "x".repeat(60), tags: [{ id: 1 }, { id: 2 }, { id: 3 }] };

/**
 * The processor time of the server and its runners per execution is the steadier figure where other programs use the
 * machine: it limits the throughput.
 */
export async function typed(seconds: number, pairs: number): Promise<void> {
  await withServer("node", async (server) => {
    const packed = await packProject({ name: "typed", agents, dependencies: ["zod"] });
    const { webhooks } = await deployPackage(server, packed);
    const counter = new Counter(server);
    const body = JSON.stringify(input);
    const common = { bodyBytes: body.length, seconds };
    const loads: Record<string, (name: string) => LoadOptions> = {
      webhook: (name) => {
        const url = webhooks.find((webhook) => webhook.name === name)?.url ?? "";
        return { ...common, url, body, headers: {} };
      },
      RunExecution: (name) => ({
        ...common,
        url: `${server.url}/api/v1/executions`,
        body: JSON.stringify({ name, input }),
        expect: 200,
        headers: { authorization: `Bearer ${server.apiKey}` },
      }),
    };
    for (const [path, options] of Object.entries(loads)) {
      const rates: number[] = [];
      const costs: number[] = [];
      for (const name of ["untyped", "typed"]) await load({ ...options(name), seconds: 1 });
      await counter.untilDrained();
      for (let pair = 0; pair < pairs; pair++) {
        const names = pair % 2 === 0 ? ["untyped", "typed"] : ["typed", "untyped"];
        const figuresOf: Record<string, Figures> = {};
        for (const name of names) figuresOf[name] = await measure(server, counter, options(name));
        const { untyped: without, typed: figures } = figuresOf;
        if (without === undefined || figures === undefined) continue;
        rates.push(figures.perSecond / without.perSecond);
        costs.push(without.usedMs / figures.usedMs);
        console.log(
          `typed: ${path}, untyped ${Math.round(without.perSecond)}/s ${without.usedMs.toFixed(3)} ms, typed ${Math.round(figures.perSecond)}/s ${figures.usedMs.toFixed(3)} ms`,
        );
      }
      console.log(
        `typed: ${path}, executions per second ${spread(rates)}, per processor second ${spread(costs)}, bound ${bound}`,
      );
    }
    counter.close();
  });
}

interface Figures {
  /** Finished executions per second from the start of the load until all have finished. */
  perSecond: number;
  /** Processor time of an execution in the server and its runners, in milliseconds. */
  usedMs: number;
}

async function measure(server: TestServer, counter: Counter, options: LoadOptions): Promise<Figures> {
  const before = counter.ended;
  const usedBefore = usedTicks(server.pid);
  const startedAt = performance.now();
  await load(options);
  await counter.untilDrained();
  const count = counter.ended - before;
  const usedMs = ((usedTicks(server.pid) - usedBefore) * 10) / count;
  return { perSecond: count / ((performance.now() - startedAt) / 1000), usedMs };
}

/** Processor time of a process and its living children on Linux, in units of 10 ms. */
function usedTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // Fields 14 and 15, after the name, which may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ");
  return children
    .filter((child) => child !== "")
    .reduce((sum, child) => sum + usedTicks(Number(child)), Number(fields[11]) + Number(fields[12]));
}

function spread(ratios: number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const [median, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)];
  return `${median?.toFixed(2)} (${least?.toFixed(2)} to ${most?.toFixed(2)})`;
}
