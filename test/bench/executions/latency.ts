import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { latencies, percentile, report, withServer } from "./setup.ts";

const ratePerSecond = 50;

/** Latency from the first byte of the webhook to the first line of the agent, compared with a server without store and runners. */
export async function latency(seconds: number, rounds: number): Promise<void> {
  const bare = await startBare();
  try {
    await withServer("node", async (_server, url) => {
      await latencies(bare.url, ratePerSecond, 1);
      const ratios: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const ours = await latencies(url, ratePerSecond, seconds);
        const theirs = await latencies(bare.url, ratePerSecond, seconds);
        report("latency", ours);
        report("latency without store and runners", theirs);
        ratios.push(percentile(ours, 0.5) / percentile(theirs, 0.5));
      }
      ratios.sort((a, b) => a - b);
      const shown = ratios.map((ratio) => ratio.toFixed(2)).join(", ");
      console.log(`latency: ratios of the p50 ${shown}; bound 2 ms, or 3 times`);
    });
  } finally {
    bare.stop();
  }
}

async function startBare(): Promise<{ url: string; stop(): void }> {
  const program = fileURLToPath(new URL("bare.ts", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(createInterface(child.stdout), "line");
  return { url: String(url), stop: () => child.stdin.end() };
}
