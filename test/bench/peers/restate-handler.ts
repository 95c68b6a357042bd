/** The handler of Restate's service. Prints its port and the URL of its latencies, which a GET returns and forgets. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadPeer } from "../queue/peer.ts";
import { sinceTrigger } from "./handler.ts";
import type { Payload } from "./queue.ts";
import { freePort } from "./redis.ts";

interface Sdk {
  service(options: object): object;
  serve(options: { services: object[]; port: number }): Promise<number>;
}

const sdk = await loadPeer<Sdk>("@restatedev/restate-sdk");
let latencies: number[] = [];
const job = async (_ctx: object, payload: Payload): Promise<void> => {
  latencies.push(sinceTrigger(payload));
};
const port = await freePort();
await sdk.serve({ services: [sdk.service({ name: "bench", handlers: { job } })], port });
const server = createServer((_request, response) => {
  response.end(JSON.stringify(latencies));
  latencies = [];
}).listen(0, "127.0.0.1", () => {
  const latenciesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  console.log(JSON.stringify({ port, latenciesUrl }));
});
process.stdin.resume().on("end", () => process.exit());
