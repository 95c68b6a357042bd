/** The deletion of unused packages, next to pushes of the same package and failures of the storage. */
import { expect, test } from "vitest";
import { Housekeeper } from "../../server/housekeeper.ts";
import type { ObjectStorage } from "../../server/storage/contract.ts";
import { openFileStorage } from "../../server/storage/filesystem.ts";
import type { Engine } from "../../server/store/engine.ts";
import { beginDeletion, finishDeletion, listUnusedObjects } from "../../server/store/tables/housekeeping.ts";
import {
  getObject,
  insertObject,
  isObjectBeingDeleted,
  keepObject,
  type UploadRow,
} from "../../server/store/tables/objects.ts";
import { openStore, temporaryFolder } from "../support/store.ts";
import { limits, orgId, pieces, type Sample, sample } from "./samples.ts";

const dayMs = 86_400_000;
const minuteMs = 60_000;
const now = Date.UTC(2026, 0, 10);

async function insert(engine: Engine, { digest, bytes }: Sample, atMs: number): Promise<void> {
  const size_bytes = bytes.length;
  const row: UploadRow = { org_id: orgId, upload_id: "", digest, size_bytes, created_at: 0, expires_at: 0 };
  await engine.write(() => insertObject(row, atMs));
}

test("a package that is being deleted cannot be deployed, and can be stored again afterwards", async () => {
  const engine = openStore();
  const stored = sample(100);
  const { digest } = stored;
  const begin = (atMs: number) => engine.write(() => beginDeletion(orgId, digest, atMs - dayMs, atMs));
  await insert(engine, stored, now - dayMs);
  expect(await begin(now)).toBe(false);
  expect(await begin(now + 1)).toBe(true);
  expect(await engine.read(() => getObject(orgId, digest))).toBeUndefined();
  expect(await engine.read(() => isObjectBeingDeleted(orgId, digest))).toBe(true);
  expect(await engine.write(() => keepObject(orgId, digest, now))).toBe(false);
  await engine.write(() => finishDeletion(orgId, digest));
  expect(await engine.read(() => isObjectBeingDeleted(orgId, digest))).toBe(false);
  await insert(engine, stored, now);
  expect(await engine.write(() => keepObject(orgId, digest, now))).toBe(true);
});

test("a package that is deployed again is not deleted", async () => {
  const engine = openStore();
  const stored = sample(100);
  await insert(engine, stored, now - 3 * dayMs);
  const unused = () => engine.read(() => listUnusedObjects(now - dayMs, 10, now));
  expect(await unused()).toEqual([{ org_id: orgId, digest: stored.digest }]);
  expect(await engine.write(() => keepObject(orgId, stored.digest, now))).toBe(true);
  expect(await unused()).toEqual([]);
  expect(await engine.write(() => beginDeletion(orgId, stored.digest, now - dayMs, now))).toBe(false);
});

test("an interrupted deletion is repeated after a quarter of an hour", async () => {
  const folder = temporaryFolder();
  const engine = openStore(folder);
  const stored = sample(100);
  const storage = openFileStorage(folder, limits);
  await storage.put(stored.key, stored.bytes.length, pieces(stored.bytes));
  await insert(engine, stored, now - 3 * dayMs);
  const packages = { remove: async () => {} };
  const unavailable: ObjectStorage = Object.assign(Object.create(storage), {
    delete: () => Promise.reject(new Error("no answer")),
  });
  const round = (atMs: number, used: ObjectStorage) =>
    new Housekeeper({ engine, storage: used, packages, retentionDays: 30 }).round(atMs);
  const size = () => storage.sizeOf(stored.key);
  await expect(round(now, unavailable)).rejects.toThrow("no answer");
  expect(await engine.read(() => getObject(orgId, stored.digest))).toBeUndefined();
  await round(now + 14 * minuteMs, storage);
  expect(await size()).toBe(stored.bytes.length);
  await round(now + 16 * minuteMs, storage);
  expect(await size()).toBeNull();
  expect(await engine.read(() => isObjectBeingDeleted(orgId, stored.digest))).toBe(false);
});
