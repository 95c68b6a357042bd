/** Secrets are never written: searches the server's output and data folder for known values. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deploy, packProject } from "../../support/project.ts";
import { call, ok, runToEnd } from "../../support/rest.ts";
import type { UploadJson } from "../../support/shapes.ts";
import { useServer } from "../../support/suite.ts";

const server = useServer("node");
const secret = "planted-secret-value-5f3c9b";

test("no key, secret or signature appears in the output and the data folder of the server", async () => {
  const deployment = await deploy(server, {
    agents: {
      reader: {
        code: "export default (_, ctx) => ctx.secrets.PLANTED.length;",
        webhooks: [{ slug: "signed", signature: { scheme: "token", header: "x-token", secret: "PLANTED" } }],
      },
    },
  });
  await ok(server, "PUT", "/api/v1/secrets/PLANTED", { json: { value: secret } });
  expect((await runToEnd(server, "reader")).output).toBe(secret.length);
  const { token } = await ok<{ token: string }>(server, "POST", "/api/v1/keys", { json: { name: "second" } });
  expect((await call({ url: server.url, apiKey: token }, "GET", "/health")).status).toBe(200);
  const url = deployment.webhooks[0]?.url ?? "";
  const send = (value: string) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-token": value, authorization: `Bearer ${token}` },
      body: "{}",
    });
  expect((await send(secret)).status).toBe(202);
  expect((await send(`${secret}-wrong`)).status).toBe(401);
  const { deliveries } = await ok<{ deliveries: unknown[] }>(server, "GET", "/api/v1/webhooks/deliveries");
  expect(deliveries).toHaveLength(2);
  const { digest, bytes } = await packProject({ agents: { other: "export default () => 1;" } });
  const upload = await ok<UploadJson>(server, "POST", "/api/v1/uploads", {
    json: { digest, size_bytes: bytes.byteLength },
  });
  const { searchParams } = new URL(upload.url);
  const signature = searchParams.get("signature") ?? searchParams.get("X-Amz-Signature") ?? "";
  expect(signature.length).toBeGreaterThan(20);
  await fetch(upload.url, { method: "PUT", body: new Uint8Array(bytes.byteLength) });
  const printed = server.output.replaceAll(/export SVC_API_KEY=\S+/g, "");
  await server.kill("SIGTERM");

  const planted = { secret, token, apiKey: server.apiKey, signature };
  for (const [name, value] of Object.entries(planted)) {
    // The id of a key is public. The part after it is secret.
    const needle = value.startsWith("svc_") ? (value.split("_")[2] ?? "") : value;
    expect(printed.includes(needle), `${name} was printed`).toBe(false);
    for (const file of filesUnder(server.dataDir)) {
      expect(readFileSync(file).includes(needle), `${name} is in ${file}`).toBe(false);
    }
  }
  const orgId = /\/webhook\/(org_[0-9a-z]+)\//.exec(url)?.[1] ?? "";
  expect(printed.includes(orgId), "the organization's id was printed").toBe(false);
});

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}
