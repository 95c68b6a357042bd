/** Unpacked packages on the disk of a server: their limit, and their check against the digest. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { Packages } from "../../server/services/deployments/packages.ts";
import type { ObjectKey, ObjectStorage } from "../../server/storage/contract.ts";
import { openFileStorage } from "../../server/storage/filesystem.ts";
import { tar } from "../project/archives.ts";
import { deploy } from "../support/project.ts";
import { runToEnd } from "../support/rest.ts";
import { useServer } from "../support/suite.ts";
import { orgId, pieces } from "./samples.ts";

const kib = 1024;
/** Room for three packages of 40 KiB. */
const limits = loadConfig({}, { SVC_PACKAGE_CACHE_BYTES: String(130 * kib) }).limits;

let folder: string;
let storage: ObjectStorage;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-packages-"));
  storage = openFileStorage(folder, limits);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const archive = (name: string) => tar([{ name: `agents/${name}.ts`, data: Buffer.alloc(40 * kib, name) }]);

/** Stores a package with one file of 40 KiB. */
async function store(name: string): Promise<ObjectKey> {
  const content = archive(name);
  const key = { orgId, digest: createHash("sha256").update(content).digest("hex") };
  const bytes = gzipSync(content);
  await storage.put(key, bytes.length, pieces(bytes));
  return key;
}

const isCached = ({ digest }: ObjectKey) => existsSync(join(folder, "packages", orgId, digest));

describe("the cache of unpacked packages", () => {
  test("removes the least recently used ones that exceed the limit", async () => {
    const packages = new Packages(folder, storage, limits);
    const keys = await Promise.all(["a", "b", "c", "d"].map(store));
    const [a, b, c, d] = keys as [ObjectKey, ObjectKey, ObjectKey, ObjectKey];
    for (const key of [a, b, c]) await packages.ensure(key);
    await later();
    await packages.ensure(a);
    await packages.ensure(d);
    await packages.settled();
    expect([a, b, c, d].map(isCached)).toEqual([true, false, true, true]);
    await packages.ensure(b);
    await packages.settled();
    expect([a, b, c, d].map(isCached)).toEqual([true, true, false, true]);
  });

  test("keeps packages in use, also beyond the limit, until they are released", async () => {
    const packages = new Packages(folder, storage, limits);
    const keys = await Promise.all(["a", "b", "c", "d", "e"].map(store));
    const used = [];
    for (const key of keys) used.push(await packages.use(key));
    await packages.settled();
    expect(keys.map(isCached)).toEqual([true, true, true, true, true]);
    used[2]?.release();
    used[2]?.release();
    await packages.settled();
    expect(keys.map(isCached)).toEqual([true, true, false, true, true]);
    const unpacked = await packages.unpack(keys[2] as ObjectKey);
    await packages.settled();
    expect(existsSync(join(unpacked.directory, "agents/c.ts"))).toBe(true);
    for (const { release } of [...used, unpacked]) release();
    await packages.settled();
    expect(keys.map(isCached).filter(Boolean)).toHaveLength(3);
  });

  test("unpacks a package once for concurrent users", async () => {
    const key = await store("a");
    let reads = 0;
    const counted: ObjectStorage = Object.assign(Object.create(storage), {
      get: (wanted: ObjectKey) => {
        reads += 1;
        return storage.get(wanted);
      },
    });
    const packages = new Packages(folder, counted, limits);
    await Promise.all([packages.use(key), packages.use(key), packages.ensure(key)]);
    expect(reads).toBe(1);
  });

  test("unpacks a package again that was unpacked before the machine started", async () => {
    const key = await store("a");
    const before = await new Packages(folder, storage, limits).use(key);
    const file = join(before.directory, "agents/a.ts");
    // A file that was not synced may be empty after a power failure.
    truncateSync(file);
    await new Packages(folder, storage, limits).ensure(key);
    expect(statSync(file).size).toBe(0);
    const packages = new Packages(folder, storage, limits, Date.now() + 1000);
    await packages.ensure(key);
    expect(statSync(file).size).toBe(40 * kib);
    const { ino } = statSync(file);
    (await packages.unpack(key)).release();
    await packages.ensure(key);
    expect(statSync(file).ino).toBe(ino);
    expect(readdirSync(join(folder, "packages", orgId))).toEqual([key.digest]);
  });

  test("knows the packages of earlier runs, and removes folders that a crash has left", async () => {
    const keys = await Promise.all(["a", "b", "c", "d"].map(store));
    const [a, b, c, d] = keys as [ObjectKey, ObjectKey, ObjectKey, ObjectKey];
    const before = new Packages(folder, storage, limits);
    for (const key of [a, b, c]) await before.ensure(key);
    await before.settled();
    const root = join(folder, "packages", orgId);
    utimesSync(join(root, b.digest), new Date(0), new Date(0));
    for (const [name, time] of [
      ["old", new Date(0)],
      ["young", new Date()],
    ] as const) {
      const path = join(root, `${d.digest}.${name}`);
      mkdirSync(path);
      writeFileSync(join(path, "file"), "");
      utimesSync(path, time, time);
    }
    const packages = new Packages(folder, storage, limits);
    await packages.ensure(d);
    await packages.settled();
    expect([a, b, c, d].map(isCached)).toEqual([true, false, true, true]);
    expect(existsSync(join(root, `${d.digest}.old`))).toBe(false);
    expect(existsSync(join(root, `${d.digest}.young`))).toBe(true);
  });
});

describe("a package from a remote storage", () => {
  const remote = (content: Buffer): ObjectStorage =>
    Object.assign(Object.create(storage), {
      isRemote: true,
      get: async () => ({ sizeBytes: content.length, content: Readable.from([content]) }),
    });

  test("is used when its digest is right, and discarded otherwise", async () => {
    const key = await store("a");
    const other = new Packages(folder, remote(gzipSync(archive("b"))), limits);
    await expect(other.use(key)).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringMatching(/it sent a package with digest [0-9a-f]{64} instead of [0-9a-f]{64}/),
    });
    expect(isCached(key)).toBe(false);
    await new Packages(folder, remote(gzipSync(archive("a"))), limits).ensure(key);
    expect(isCached(key)).toBe(true);
  });
});

describe("a server whose limit is smaller than any package", () => {
  const server = useServer("node", {
    env: { SVC_PACKAGE_CACHE_BYTES: "1", SVC_RUNNERS_PER_DEPLOYMENT: "1" },
  });

  test("keeps the package of a runner, and removes it when the runner has ended", async () => {
    const unpacked = () =>
      readdirSync(join(server.dataDir, "packages")).flatMap((org) =>
        readdirSync(join(server.dataDir, "packages", org)),
      );
    const code = "export default ({ exit }) => (exit ? process.exit() : 'ran');";
    const { digest } = await deploy(server, { agents: { a: code } });
    for (let round = 0; round < 2; round += 1) {
      expect((await runToEnd(server, "a")).output).toBe("ran");
      expect((await runToEnd(server, "a")).output).toBe("ran");
      expect(unpacked()).toEqual([digest]);
      expect((await runToEnd(server, "a", { exit: true })).status).toBe("failed");
      await expect.poll(unpacked, { timeout: 20_000 }).toEqual([]);
    }
  });
});

/** The next millisecond, because last uses are compared by time. */
async function later(): Promise<void> {
  const now = Date.now();
  while (Date.now() <= now) await new Promise(setImmediate);
}
