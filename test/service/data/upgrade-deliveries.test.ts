/**
 * Deliveries of version 0.1. `deliveries-0.1.tar.gz` is the data folder of that version after six requests: one accepted by
 * the webhook `plain`, its idempotent repeat, three rejected, and one accepted by the webhook `mapped`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, ok } from "../../support/rest.ts";
import { root } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import type { AcceptedJson, DeliveryJson, DeliveryPage, HealthJson } from "../../support/shapes.ts";

const dataDir = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
const server = new TestServer("node", { dataDir, env: { SVC_API_KEY: "svc_fixture_0000000000000000" } });
const path = "/api/v1/webhooks/deliveries";

beforeAll(async () => {
  execFileSync("tar", ["-xzf", join(root, "test/fixtures/deliveries-0.1.tar.gz"), "-C", dataDir]);
  await server.start();
});
afterAll(async () => {
  await server.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true });
});

const list = async (query = "") => (await ok<DeliveryPage>(server, "GET", `${path}${query}`)).deliveries;
const outcomes = (deliveries: readonly DeliveryJson[]) => deliveries.map(({ outcome }) => outcome);

test("lists every old delivery once, newest first", async () => {
  const deliveries = await list();
  expect(deliveries.map(({ slug, outcome }) => `${slug} ${outcome}`)).toEqual([
    "mapped accepted",
    "plain rejected",
    "plain rejected",
    "plain rejected",
    "plain replayed",
    "plain accepted",
  ]);
  expect(outcomes(await list("?outcome=replayed"))).toEqual(["replayed"]);
});

test("shows and redelivers an old delivery", async () => {
  const [old] = await list("?slug=mapped");
  const shown = await ok<DeliveryJson>(server, "GET", `${path}/${old?.delivery_id}`);
  expect(shown).toMatchObject({
    payload: { order: { id: 7 }, rest: true },
    headers: { "x-sender": "shop" },
    execution_id: old?.execution_id,
  });
  const again = await ok<AcceptedJson>(server, "POST", `${path}/${old?.delivery_id}/redeliver`, { json: {} });
  expect((await ended(server, again.execution_id)).output).toEqual({ id: 7 });
});

test("keeps old accepted deliveries when requests are rejected", async () => {
  const { organization } = await ok<HealthJson>(server, "GET", "/health");
  const url = `${server.url}/webhook/${organization}/agent/echo/plain`;
  const send = () =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "[" });
  for (let sent = 0; sent < 120; sent += 40) await Promise.all(Array.from({ length: 40 }, send));
  const kept = outcomes(await list("?slug=plain&page_size=1000"));
  expect(kept).toEqual([...Array<string>(100).fill("rejected"), "replayed", "accepted"]);
});
