/** Runs the attempts of a subject in a process without a boundary, and prints the results. */
import fs from "node:fs";
import net from "node:net";
import { stores } from "./agents/caches.ts";

const [name = "", input = "{}"] = process.argv.slice(2);
for (const { put } of name === "caches" ? Object.values(stores) : []) {
  try {
    await put();
  } catch {
    // The runtime does not have it.
  }
}
// Stands for the channel, whose class attempts look for.
const channel = new net.Socket({ fd: 3 });
channel.on("error", () => {});
const { default: agent } = await import(`./agents/${name}.ts`);
const results = JSON.stringify(await agent(JSON.parse(input)));
// Attempts print lines too. The results are the last.
fs.writeSync(1, `\n${results}`);
process.kill(process.pid, "SIGKILL");
