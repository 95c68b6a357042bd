/** Alerts over TLS on all runtimes: the certificate is verified for the name in the URL. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCertificates } from "../plugin/certificate.ts";
import { bareEnvironment, commandOf, type Runtime, root, runtimes } from "../support/runtimes.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-alert-tls-"));
const trusted = createCertificates(["localhost"]);
const caFile = join(folder, "ca.pem");
writeFileSync(caFile, trusted.authority);
const servers = [trusted, createCertificates(["localhost"]), createCertificates(["other.test"])].map(
  ({ certificate, key }) =>
    createServer({ cert: certificate, key }, (_, response) => response.writeHead(204).end()),
);
const ports: number[] = [];
beforeAll(async () => {
  for (const server of servers) {
    server.listen(0, "localhost");
    await once(server, "listening");
    ports.push((server.address() as AddressInfo).port);
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function post(runtime: Runtime, url: string): Promise<string> {
  const [program, ...args] = commandOf(runtime);
  const env = { ...bareEnvironment(), NODE_EXTRA_CA_CERTS: caFile, DENO_CERT: caFile };
  const script = join(root, "test/alerts/post-main.ts");
  const { stdout } = await promisify(execFile)(program, [...args, script, url], { env, cwd: root });
  return stdout.trim();
}

test.each(runtimes)("%s sends to a trusted certificate, and to no other", async (runtime) => {
  const [known, unknown] = ports;
  expect(await post(runtime, `https://localhost:${known}/a`)).toBe("status 204");
  expect(await post(runtime, `https://localhost:${unknown}/a`)).toMatch(
    /^error .*(certificate|signature|issuer)/i,
  );
  expect(await post(runtime, `https://127.0.0.1:${known}/a`)).toMatch(/^error/);
});
