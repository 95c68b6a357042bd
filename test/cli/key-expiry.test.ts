/** Warnings of API keys that expire within a week: in commands, and in the log of the server. */
import { expect, onTestFinished, test } from "vitest";
import { Housekeeper } from "../../server/housekeeper.ts";
import type { ObjectStorage } from "../../server/storage/contract.ts";
import { insertKey, insertOrganization, revokeKey } from "../../server/store/tables/organizations.ts";
import { configureLog } from "../../server/telemetry/log/index.ts";
import { openStore, orgId } from "../support/store.ts";
import { useService } from "./support.ts";

const dayMs = 86_400_000;
const service = useService("bun");
const warning = /^warning: The API key expires in [23] days\. Create another one with/;

test("whoami, status and keys list warn of a key that expires within a week", async () => {
  const create = async (name: string, expires: string) =>
    (await service.run(`keys create --name ${name} --scope read --expires ${expires}`)).stdout.trim();
  const soon = { env: { SVC_API_KEY: await create("soon", "3d") } };
  await create("later", "30d");
  const who = await service.run("whoami", soon);
  expect(who.stdout).toMatch(/^expires +\d{4}-.* \(in [23] days\)$/m);
  expect(who.stderr).toMatch(warning);
  const json = await service.run("whoami --json", soon);
  expect(json.stderr).toBe("");
  expect(Date.parse(JSON.parse(json.stdout).key_expires_at)).toBeLessThan(Date.now() + 3 * dayMs);
  expect((await service.run("status", soon)).stderr).toMatch(warning);

  const own = await service.run("whoami");
  expect(own.stderr).toBe("");
  expect(own.stdout).not.toMatch(/^expires/m);
  const list = await service.run("keys list");
  expect(list.stderr).toMatch(/^warning: The API key "soon" \(key_\w+\) expires in [23] days\./);
  expect(list.stderr).not.toContain("later");
});

test("the housekeeper logs keys that expire within a week, once a day", async () => {
  const engine = openStore();
  const nowMs = Date.now();
  const key = (name: string, expiresAtMs: number | null) => ({
    ...{ key_id: `key_${name}`, org_id: orgId, name, secret_hash: name, scope: "full", created_at: 1 },
    expires_at: expiresAtMs,
  });
  await engine.write(function* () {
    yield* insertOrganization({ org_id: orgId, name: "test", created_at: 1 });
    yield* insertKey(key("soon", nowMs + 6 * dayMs));
    yield* insertKey(key("later", nowMs + 8 * dayMs));
    yield* insertKey(key("expired", nowMs - 1));
    yield* insertKey(key("unlimited", null));
    yield* insertKey(key("revoked", nowMs + dayMs));
    yield* revokeKey(orgId, "key_revoked", 2);
  });
  const lines: string[] = [];
  const write = process.stderr.write;
  configureLog({ format: "json", level: "warn" });
  process.stderr.write = (text) => lines.push(String(text)) > 0;
  onTestFinished(() => {
    process.stderr.write = write;
    configureLog({ format: "text", level: "info" });
  });
  const housekeeper = new Housekeeper({
    ...{ engine, storage: {} as ObjectStorage, packages: { remove: async () => {} }, retentionDays: 30 },
  });
  await housekeeper.round(nowMs);
  await housekeeper.round(nowMs + dayMs / 2);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "warn",
    message: "An API key expires soon",
    key_id: "key_soon",
  });
  await housekeeper.round(nowMs + dayMs);
  expect(lines.join("")).toContain("key_later");
});
