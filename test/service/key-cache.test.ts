/** A key is read from the store once per second, and a revoked key is refused at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KeyCache } from "../../server/auth/key-cache.ts";
import type { Engine } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { insertKey, insertOrganization, revokeKey } from "../../server/store/tables/organizations.ts";

const [orgId, keyId] = ["org_0", "key_0"];

async function storeWithKey(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), "svc-keys-"));
  const engine = openSqlite(folder);
  onTestFinished(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  const key = { key_id: keyId, org_id: orgId, name: "ci", scope: "full", secret_hash: "", created_at: 1 };
  await engine.write(function* () {
    yield* insertOrganization({ org_id: orgId, name: "Acme", created_at: 1 });
    yield* insertKey({ ...key, expires_at: null });
  });
  return engine;
}

const revoke = (engine: Engine) => engine.write(() => revokeKey(orgId, keyId, 2));

test.each([
  { exclusive: true, reads: 1 },
  { exclusive: false, reads: 3 },
])("three calls read a key $reads times when exclusive is $exclusive", async ({ exclusive, reads }) => {
  const engine = await storeWithKey();
  let count = 0;
  const counted: Engine = {
    ordered: true,
    write: (program) => engine.write(program),
    read: (program) => {
      count++;
      return engine.read(program);
    },
    listen: (topic, listener) => engine.listen(topic, listener),
    close: () => engine.close(),
  };
  const keys = new KeyCache({ engine: counted, exclusive });
  for (let n = 0; n < 3; n++) expect(await keys.find(keyId)).toMatchObject({ revoked_at: null });
  expect(count).toBe(reads);
  await revoke(engine);
  expect(await keys.find(keyId)).toMatchObject({ revoked_at: 2 });
});

test("a key that is revoked while it is read does not stay", async () => {
  const engine = await storeWithKey();
  const late: Engine = {
    ordered: true,
    write: (program) => engine.write(program),
    read: async (program) => {
      const row = await engine.read(program);
      await revoke(engine);
      return row;
    },
    listen: (topic, listener) => engine.listen(topic, listener),
    close: () => engine.close(),
  };
  const keys = new KeyCache({ engine: late, exclusive: true });
  await keys.find(keyId);
  expect(await keys.find(keyId)).toMatchObject({ revoked_at: 2 });
});
