/** The master key at the start of a server, and executions with secrets that cannot be opened. */
import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { loadMasterKey, masterKey } from "../../../server/secrets/master-key.ts";
import { openMasterKey } from "../../../server/secrets/open-master-key.ts";
import { sealSecret } from "../../../server/secrets/seal.ts";
import type { Engine } from "../../../server/store/engine.ts";
import { all, notify, run as statement } from "../../../server/store/engine.ts";
import { putSecret } from "../../../server/store/tables/secrets.ts";
import { deploy } from "../../support/project.ts";
import { call, ok, runToEnd } from "../../support/rest.ts";
import { commandRuntimes } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import type { WebhookListJson } from "../../support/shapes.ts";
import { openStore, orgId, rows, temporaryFolder } from "../../support/store.ts";

const anyKey = () => randomBytes(32).toString("hex");
const lost = /the master key is missing; SVC_MASTER_KEY is not set and .* contains no master\.key/;
const wrong =
  /Cannot open the secrets: this server has the master key [0-9a-f]{8}, and the store was written with /;

const openKey = async (engine: Engine, variable: string | undefined, dataDir: string) =>
  (await openMasterKey(engine, { variable, previous: undefined, dataDir })).main;

function putSealed(engine: Engine, name: string, key: ReturnType<typeof masterKey>): Promise<unknown> {
  return engine.write(() => putSecret(orgId, name, sealSecret(key, { orgId, name }, "hush"), 1));
}

describe("openMasterKey", () => {
  test("creates a key and a check value in a new store, and accepts that key only", async () => {
    const folder = temporaryFolder();
    const engine = openStore(folder);
    const { id } = await openKey(engine, undefined, folder);
    expect((await openKey(engine, undefined, folder)).id).toBe(id);
    const stored = await rows<{ sealed: string }>(engine, "SELECT sealed FROM master_key_check");
    expect(stored).toEqual([{ sealed: expect.stringMatching(new RegExp(`^v1\\.${id}\\.`)) }]);

    await expect(openKey(engine, anyKey(), folder)).rejects.toThrow(wrong);
    rmSync(join(folder, "master.key"));
    await expect(openKey(engine, undefined, folder)).rejects.toThrow(lost);
    expect(existsSync(join(folder, "master.key"))).toBe(false);
    loadMasterKey(undefined, folder);
    await expect(openKey(engine, undefined, folder)).rejects.toThrow(wrong);
  });

  test("is not deceived by a key with the same id", async () => {
    const folder = temporaryFolder();
    const engine = openStore(folder);
    const { id } = await openKey(engine, undefined, folder);
    const other = masterKey(randomBytes(32));
    const sealed = sealSecret(other, { orgId: "", name: "master-key-check" }, "svc").replace(other.id, id);
    await engine.write(() => statement("UPDATE master_key_check SET sealed = ?", sealed));
    await expect(openKey(engine, undefined, folder)).rejects.toThrow(wrong);
  });

  test("verifies a store of an earlier version with one of its secrets", async () => {
    const folder = temporaryFolder();
    const engine = openStore(folder);
    const text = anyKey();
    const key = masterKey(Buffer.from(text, "hex"));
    const damaged = sealSecret(key, { orgId: "org_x", name: "other" }, "x");
    await engine.write(() => putSecret(orgId, "A_DAMAGED", damaged, 1));
    await putSealed(engine, "GOOD", key);
    await putSealed(engine, "OLDER", masterKey(randomBytes(32)));

    await expect(openKey(engine, undefined, folder)).rejects.toThrow(lost);
    await expect(openKey(engine, anyKey(), folder)).rejects.toThrow(wrong);
    expect(await rows(engine, "SELECT * FROM master_key_check")).toEqual([]);
    expect((await openKey(engine, text, folder)).id).toBe(key.id);
    expect(await rows(engine, "SELECT * FROM master_key_check")).toHaveLength(1);
    expect(existsSync(join(folder, "master.key"))).toBe(false);
  });
});

describe.each(commandRuntimes("bun"))("a server on %s", (runtime) => {
  const secretive = {
    name: "secretive",
    agents: {
      plain:
        "export default (input, ctx) => ({ names: Object.keys(ctx.secrets), length: { ...ctx.secrets }.GOOD.length });",
      reads: "export default (input, ctx) => ctx.secrets.BROKEN;",
      hooked: {
        code: "export default () => 1;",
        webhooks: [{ slug: "in", signature: { scheme: "token", secret: "GOOD", header: "x-token" } }],
      },
    },
  };

  test("does not start with a lost or wrong key, and starts with the former one", async () => {
    const server = new TestServer(runtime);
    onTestFinished(() => server.discard(false));
    await server.start();
    await ok(server, "PUT", "/api/v1/secrets/GOOD", { json: { value: "hush" } });
    await server.kill("SIGTERM");
    const file = join(server.dataDir, "master.key");
    const backup = join(server.dataDir, "backup");
    renameSync(file, backup);
    await expect(server.start()).rejects.toThrow(lost);
    expect(server.output).toContain("Restore master.key from a backup of the data folder");
    expect(existsSync(file)).toBe(false);
    copyFileSync(backup, file);
    await server.start();
    await deploy(server, secretive);
    expect((await runToEnd(server, "plain")).output).toEqual({ names: ["GOOD"], length: 4 });
  });

  test("fails only the executions that read a secret that cannot be opened", async () => {
    const server = new TestServer(runtime);
    onTestFinished(() => server.discard(false));
    await server.start();
    for (const name of ["GOOD", "BROKEN"]) {
      await ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value: "hush" } });
    }
    await deploy(server, secretive);
    const engine = await server.openStore();
    await engine.write(function* () {
      const damage = "UPDATE secrets SET sealed = 'v1.00000000.x.x' WHERE name = 'BROKEN' RETURNING org_id";
      for (const { org_id } of yield* all<{ org_id: string }>(damage)) yield* notify("secrets", org_id);
    });
    await engine.close();

    await vi.waitFor(async () => {
      expect((await runToEnd(server, "plain")).output).toEqual({ names: ["GOOD"], length: 4 });
    }, 30_000);
    const failed = await runToEnd(server, "reads");
    expect(failed).toMatchObject({
      status: "failed",
      error: { message: "Cannot read the secret 'BROKEN': the server cannot decrypt it; set it again." },
    });
    expect(server.output).toMatch(/Cannot open the secret 'BROKEN' of org_/);
    expect(server.output.match(/Cannot open the secret/g)).toHaveLength(1);
    const { agents } = await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list?api_key_only=true");
    const url = agents.flatMap(({ webhooks }) => webhooks)[0]?.url ?? "";
    const answer = await call(server, "POST", url, { key: null, json: {}, headers: { "x-token": "hush" } });
    expect(answer.status, answer.text).toBe(202);
  });
});
