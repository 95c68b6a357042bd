/** `svc admin rotate-master-key`: with a file while the server runs, with variables, and after a crash at each step. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { KeyRing } from "../../../server/secrets/key-ring.ts";
import {
  createNextKey,
  loadMasterKey,
  masterKey,
  parseMasterKey,
  readMasterKey,
} from "../../../server/secrets/master-key.ts";
import { openMasterKey, sealCheck } from "../../../server/secrets/open-master-key.ts";
import { rotateMasterKey } from "../../../server/secrets/rotate.ts";
import { sealSecret } from "../../../server/secrets/seal.ts";
import { Vault } from "../../../server/secrets/vault.ts";
import type { Engine } from "../../../server/store/engine.ts";
import { openPostgres } from "../../../server/store/postgres/index.ts";
import { getMasterKeyCheck, replaceMasterKeyCheck } from "../../../server/store/tables/master-key-check.ts";
import { putSecret } from "../../../server/store/tables/secrets.ts";
import { svc } from "../../cli/support.ts";
import { createDatabase } from "../../support/postgres/databases.ts";
import { deploy } from "../../support/project.ts";
import { ok, runToEnd } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";
import { openStore, orgId, rows, temporaryFolder } from "../../support/store.ts";

const anyKey = () => randomBytes(32).toString("hex");
const source = (dataDir: string, variable?: string, previous?: string) => ({ variable, previous, dataDir });
const keyIds = async (engine: Engine) =>
  (
    await rows<{ id: string }>(
      engine,
      "SELECT substr(sealed, 4, 8) AS id FROM secrets UNION SELECT substr(sealed, 4, 8) FROM environment_secrets",
    )
  ).map(({ id }) => id);

/** A store with secrets of the key in its folder. */
async function filled(secrets = 250): Promise<{ engine: Engine; folder: string; vault: Vault }> {
  const folder = temporaryFolder();
  const engine = openStore(folder);
  const vault = new Vault(engine, await openMasterKey(engine, source(folder)));
  await engine.write(function* () {
    for (let n = 0; n < secrets; n++) {
      yield* putSecret(orgId, `S${n}`, yield* vault.seal(orgId, `S${n}`, `value ${n}`), 1);
    }
    if (secrets < 250) return;
    for (const environment of ["a", "b"]) {
      yield* putSecret(orgId, "S1", yield* vault.seal(orgId, "S1", environment, environment), 1, environment);
    }
  });
  return { engine, folder, vault };
}

describe("rotateMasterKey", () => {
  test("seals every secret with a new key, which becomes master.key; a vault that is open reads on", async () => {
    const { engine, folder, vault } = await filled();
    const before = await vault.values(orgId);
    const { from, to, resealed, unreadable } = await rotateMasterKey(engine, source(folder));
    expect({ resealed, unreadable }).toEqual({ resealed: 252, unreadable: [] });
    expect([(await vault.values(orgId, "a")).S1, (await vault.values(orgId, "b")).S1]).toEqual(["a", "b"]);
    expect(to).not.toBe(from);
    expect(await keyIds(engine)).toEqual([to]);
    expect(readMasterKey(undefined, folder)?.id).toBe(to);
    expect(
      readdirSync(folder)
        .filter((name) => name.startsWith("master"))
        .sort(),
    ).toEqual(["master.key", `master.key.${from}`]);
    expect(statSync(join(folder, "master.key")).mode & 0o777).toBe(0o600);
    expect(await vault.values(orgId)).toEqual(before);
    // The open vault seals with the new key, and a new start accepts it.
    await engine.write(function* () {
      yield* putSecret(orgId, "LATER", yield* vault.seal(orgId, "LATER", "x"), 2);
    });
    expect(await keyIds(engine)).toEqual([to]);
    const again = new Vault(engine, await openMasterKey(engine, source(folder)));
    expect(await again.values(orgId)).toEqual({ ...before, LATER: "x" });
    expect((await rotateMasterKey(engine, source(folder))).from).toBe(to);
  });

  test.each([1, 2, 3])(
    "continues after a crash behind step %i, and the server starts meanwhile",
    async (step) => {
      const { engine, folder } = await filled(3);
      const former = loadMasterKey(undefined, folder);
      const next = createNextKey(folder);
      if (step >= 2) {
        const check = (await engine.read(getMasterKeyCheck)) ?? "";
        await engine.write(() => replaceMasterKeyCheck(check, sealCheck(next), 1));
      }
      if (step >= 3) {
        const sealed = sealSecret(next, { orgId, name: "S1" }, "value 1");
        await engine.write(() => putSecret(orgId, "S1", sealed, 1));
      }
      const started = new Vault(engine, await openMasterKey(engine, source(folder)));
      expect(await started.values(orgId)).toEqual({ S0: "value 0", S1: "value 1", S2: "value 2" });
      const { from, to } = await rotateMasterKey(engine, source(folder));
      expect(from).toBe(former.id);
      if (step >= 2) expect(to).toBe(next.id);
      expect(await keyIds(engine)).toEqual([to]);
      const after = new Vault(engine, await openMasterKey(engine, source(folder)));
      expect(await after.values(orgId)).toEqual({ S0: "value 0", S1: "value 1", S2: "value 2" });
    },
  );

  test("with variables needs both keys, and works on the key of a file too", async () => {
    const { engine, folder, vault } = await filled(3);
    const former = readFileSync(join(folder, "master.key"), "utf8");
    const next = anyKey();
    await expect(rotateMasterKey(engine, source(folder, next))).rejects.toThrow(/SVC_MASTER_KEY_PREVIOUS/);
    await expect(rotateMasterKey(engine, source(folder, former))).rejects.toThrow(/SVC_MASTER_KEY_PREVIOUS/);
    await expect(rotateMasterKey(engine, source(folder, next, anyKey()))).rejects.toThrow(
      /the store was written with/,
    );
    // Servers that have both keys seal with the former one until the rotation.
    const both = new Vault(engine, await openMasterKey(engine, source(folder, next, former)));
    await engine.write(function* () {
      yield* putSecret(orgId, "BOTH", yield* both.seal(orgId, "BOTH", "b"), 2);
    });
    expect((await vault.values(orgId)).BOTH).toBe("b");
    const { to, resealed } = await rotateMasterKey(engine, source(folder, next, former));
    expect({ to, resealed }).toEqual({ to: parseMasterKey(next, "").id, resealed: 4 });
    expect((await both.values(orgId)).BOTH).toBe("b");
    expect((await rotateMasterKey(engine, source(folder, next, former))).resealed).toBe(0);
    await openMasterKey(engine, source(folder, next));
    await expect(openMasterKey(engine, source(folder, former))).rejects.toThrow(/the store was written with/);
  });

  test("works on PostgreSQL, next to a vault that stores secrets", async () => {
    const { url, drop } = await createDatabase();
    onTestFinished(drop);
    const engine = await openPostgres({ url, waitMs: 30_000 });
    onTestFinished(() => engine.close());
    const [former, next, folder] = [anyKey(), anyKey(), temporaryFolder()];
    await openMasterKey(engine, source(folder, former));
    const vault = new Vault(engine, await openMasterKey(engine, source(folder, next, former)));
    const names = Array.from({ length: 120 }, (_, n) => `S${n}`);
    const put = (name: string) =>
      engine.write(function* () {
        yield* putSecret(orgId, name, yield* vault.seal(orgId, name, "x"), 1);
      });
    for (const name of names.slice(0, 60)) await put(name);
    const [{ to }] = await Promise.all([
      rotateMasterKey(engine, source(folder, next, former)),
      ...names.slice(60).map(put),
    ]);
    expect(await keyIds(engine)).toEqual([to]);
    const after = new Vault(engine, await openMasterKey(engine, source(folder, next)));
    expect(Object.keys(await after.values(orgId))).toHaveLength(120);
  });

  test("leaves secrets that no key opens, and names them", async () => {
    const { engine, folder } = await filled(2);
    const lost = sealSecret(masterKey(randomBytes(32)), { orgId, name: "LOST" }, "x");
    await engine.write(() => putSecret(orgId, "LOST", lost, 1));
    const { resealed, unreadable } = await rotateMasterKey(engine, source(folder));
    expect({ resealed, unreadable }).toEqual({ resealed: 2, unreadable: [{ org_id: orgId, name: "LOST" }] });
    expect(await rows(engine, "SELECT sealed FROM secrets WHERE name = 'LOST'")).toEqual([{ sealed: lost }]);
  });

  test("reads no file for an id that is none", () => {
    const folder = temporaryFolder();
    const keys = new KeyRing(loadMasterKey(undefined, folder), source(folder));
    expect(keys.find("../x")).toBeUndefined();
    expect(keys.find("")).toBeUndefined();
  });
});

test("svc admin rotate-master-key while a server runs: executions read their secrets, and new secrets are stored", async () => {
  const server = new TestServer("node", { stores: "embedded" });
  onTestFinished(() => server.discard(false));
  await server.start();
  await ok(server, "PUT", "/api/v1/secrets/TOKEN", { json: { value: "hush" } });
  await deploy(server, {
    agents: {
      read: "export default (input, ctx) => [ctx.secrets.TOKEN.length, ctx.secrets.LATER?.length ?? 0];",
    },
  });
  expect((await runToEnd(server, "read")).output).toEqual([4, 0]);
  const command = ["admin", "rotate-master-key", "--data", server.dataDir];
  const unconfirmed = await svc("node", command);
  expect(unconfirmed).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--yes") });
  const rotated = await svc("node", [...command, "--json", "--yes"]);
  expect(rotated.stderr).toBe("");
  expect(JSON.parse(rotated.stdout)).toMatchObject({ secrets: 1, unreadable: [] });
  expect((await runToEnd(server, "read")).output).toEqual([4, 0]);
  await ok(server, "PUT", "/api/v1/secrets/LATER", { json: { value: "later" } });
  expect((await runToEnd(server, "read")).output).toEqual([4, 5]);
  await server.restart();
  expect((await runToEnd(server, "read")).output).toEqual([4, 5]);
  expect(server.output).not.toMatch(/Cannot open the secret/);
});
