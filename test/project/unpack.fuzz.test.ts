/** Unpacks random bytes and mutated archives. Nothing may be written outside of the target folder. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { PackageError, unpackPackage } from "../../project/unpack.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";
import { type Entry, inPieces, tar } from "./archives.ts";
import { testFolder } from "./folder.ts";

const limits = { compressedBytes: 200_000, unpackedBytes: 500_000, files: 30 };
const fuzzRounds = rounds(300);

type Mutation = (archive: Buffer) => Buffer;

function mutated(archive: Buffer, mutations: readonly Mutation[]): Buffer {
  return mutations.reduce((bytes, mutate) => mutate(bytes), archive);
}

/** Changes the uncompressed archive. */
function mutation(): fc.Arbitrary<Mutation> {
  const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const place = (archive: Buffer, fraction: number): number => Math.floor(fraction * archive.length);
  const block = (archive: Buffer, fraction: number): number => place(archive, fraction) & ~511;
  const flip = fc.tuple(at, fc.nat(255)).map(([where, byte]) => (archive: Buffer) => {
    if (archive.length > 0) archive[place(archive, where)] = byte;
    return archive;
  });
  const field = fc
    .tuple(at, fc.constantFrom(0, 100, 124, 156, 157, 257, 345), hostileText())
    .map(([where, offset, text]) => (archive: Buffer) => {
      archive.write(text, Math.min(archive.length, block(archive, where) + offset), "latin1");
      return archive;
    });
  const type = fc
    .tuple(at, fc.constantFrom(..."01234567xgLKSD\0".split("")))
    .map(([where, flag]) => (archive: Buffer) => {
      if (archive.length >= 512) archive.write(flag, block(archive, where) + 156, "latin1");
      return archive;
    });
  const cut = at.map((where) => (archive: Buffer) => archive.subarray(0, place(archive, where)));
  const remove = at.map((where) => (archive: Buffer) => {
    const start = block(archive, where);
    return Buffer.concat([archive.subarray(0, start), archive.subarray(start + 512)]);
  });
  const repeat = fc.tuple(at, at).map(([from, to]) => (archive: Buffer) => {
    const start = block(archive, from);
    const target = block(archive, to);
    return Buffer.concat([
      archive.subarray(0, target),
      archive.subarray(start, start + 512),
      archive.subarray(target),
    ]);
  });
  return fc.oneof(flip, field, type, cut, remove, repeat);
}

function hostileText(): fc.Arbitrary<string> {
  return fc.constantFrom(
    ...[
      "../",
      "/",
      "..",
      "../../../../tmp/x",
      "a/../../b",
      "\0",
      "00000000000\0",
      "77777777777\0",
      "-1",
      "ustar  \0",
    ],
    ...[
      "99 path=../x\n",
      "13 path=../x\n",
      "A",
      "a",
      "\xff\xfe",
      "agents",
      "agents/a.ts\0",
      "././",
      "\\..\\x",
      "C:\\x",
    ],
  );
}

function archive(): fc.Arbitrary<Entry[]> {
  const name = fc.constantFrom(
    "agents/a.ts",
    "agents/b/c.ts",
    "svc-project.yaml",
    "é",
    "agents/d/e/f",
    "../up",
    "/abs",
    "A",
    "a",
  );
  const data = fc.constantFrom("", "x", "y".repeat(512), "z".repeat(3000));
  const pax = fc.option(
    fc.record({ path: fc.constantFrom("p", "../p", "agents/long", "/p", "b".repeat(200)) }),
    { freq: 4, nil: undefined },
  );
  const entry = fc
    .record({ name, data, pax, type: fc.constantFrom("0", "0", "0", "0", "0", "5", "2") })
    .map(({ pax: records, ...rest }) => {
      return {
        ...rest,
        ...(records !== undefined && { pax: records }),
        ...(rest.type === "5" && { data: "" }),
        linkname: "/etc",
      };
    });
  return fc.array(entry, { maxLength: 6 });
}

/** Random bytes, archives with mutations before compression, and archives with mutations after it. */
function input(): fc.Arbitrary<Buffer> {
  const noise = fc.uint8Array({ maxLength: 2000 }).map((bytes): Buffer => Buffer.from(bytes));
  const inside = fc
    .tuple(archive(), fc.array(mutation(), { maxLength: 4 }), fc.boolean())
    .map(([entries, mutations, repaired]): Buffer => {
      const bytes = mutated(tar(entries), mutations);
      return gzipSync(repaired ? withChecksums(bytes) : bytes);
    });
  const outside = fc
    .tuple(inside, fc.array(mutation(), { minLength: 1, maxLength: 3 }))
    .map(([bytes, mutations]): Buffer => mutated(Buffer.from(bytes), mutations));
  return fc.oneof(
    { weight: 1, arbitrary: noise },
    { weight: 1, arbitrary: noise.map((bytes): Buffer => gzipSync(bytes)) },
    { weight: 6, arbitrary: inside },
    { weight: 2, arbitrary: outside },
  );
}

/** Repairs the checksums of all headers, so that mutations are not rejected early. */
function withChecksums(bytes: Buffer): Buffer {
  for (let start = 0; start + 512 <= bytes.length; start += 512) {
    const header = bytes.subarray(start, start + 512);
    if (header.toString("latin1", 257, 262) !== "ustar") continue;
    header.write("        ", 148);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  }
  return bytes;
}

test(`unpacks or rejects ${fuzzRounds} archives`, { timeout: 60_000 + fuzzRounds * 50 }, async () => {
  const folder = testFolder();
  const around = join(folder, "around");
  mkdirSync(around);
  writeFileSync(join(folder, "witness"), "untouched");
  const before = process.memoryUsage().rss;
  let accepted = 0;
  let rejectedLate = 0;
  await fc.assert(
    fc.asyncProperty(input(), fc.constantFrom(1, 511, 65_536), async (bytes, pieceBytes) => {
      const target = join(around, "target");
      try {
        const { files } = await unpackPackage(inPieces(bytes, pieceBytes), target, limits);
        accepted++;
        const found = listed(target);
        expect(found).toEqual(files.map(({ path }) => path).sort());
        const whole = gunzipSync(bytes);
        for (const { path } of files) expect(whole.includes(readFileSync(join(target, path)))).toBe(true);
      } catch (error) {
        if (!(error instanceof PackageError)) throw error;
        expect(readdirSync(around)).toEqual([]);
        if (!/gzip/.test(error.message)) rejectedLate++;
      }
      rmSync(target, { recursive: true, force: true });
      expect(readdirSync(around)).toEqual([]);
      expect(readdirSync(folder).sort()).toEqual(["around", "witness"]);
      expect(readFileSync(join(folder, "witness"), "utf8")).toBe("untouched");
    }),
    { numRuns: fuzzRounds, endOnFailure: true },
  );
  // Inputs that are all rejected early would prove little.
  expect(accepted).toBeGreaterThan(fuzzRounds / 20);
  expect(rejectedLate).toBeGreaterThan(fuzzRounds / 5);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});

/** The regular files under a folder. Fails on anything but files and folders. */
function listed(folder: string, prefix = ""): string[] {
  return readdirSync(join(folder, prefix))
    .flatMap((name) => {
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const stats = lstatSync(join(folder, path));
      if (stats.isDirectory()) return listed(folder, path);
      expect(stats.isFile(), path).toBe(true);
      return [path];
    })
    .sort();
}
