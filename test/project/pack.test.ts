import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { parseTarGzip } from "nanotar";
import { describe, expect, test } from "vitest";
import { segmentBytes } from "../../project/archive/layout.ts";
import { type CollectedFile, collectProject } from "../../project/collect.ts";
import { windowBytes } from "../../project/deflate/deflate.ts";
import { packageLimits } from "../../project/limits.ts";
import { packFiles } from "../../project/pack.ts";
import { unpackPackage } from "../../project/unpack.ts";
import { testFolder, writeFiles } from "./folder.ts";
import { peakDuring } from "./peak.ts";
import { sample } from "./sample.ts";

const longName = `agents/${"deep/".repeat(40)}${"n".repeat(200)}.ts`;

/** A project with everything that archives get wrong. Its files are larger than one segment together. */
function writeProject(root: string): Record<string, Buffer> {
  const files: Record<string, Buffer> = {
    "svc-project.yaml": Buffer.from('name: a\nversion: "1"\n'),
    "agents/a.ts": Buffer.from("export default () => 1;\n"),
    "agents/empty": Buffer.alloc(0),
    "agents/run.sh": Buffer.from("#!/bin/sh\n"),
    "agents/größe 日本 😀.txt": Buffer.from("ä"),
    "agents/a = b c\n.txt": Buffer.from("x"),
    [longName]: Buffer.from("long"),
    [`agents/${"é".repeat(100)}`]: Buffer.from("wide"),
    [`agents/${"x".repeat(93)}`]: Buffer.from("100 bytes"),
    [`agents/${"x".repeat(94)}`]: Buffer.from("101 bytes"),
    "agents/block": sample(512, 1),
    "agents/zeros": Buffer.alloc(200_000),
    "workflows/big": sample(3 * segmentBytes + 17, 2),
    "workflows/noise": sample(segmentBytes, 3),
  };
  for (let index = 0; index < 300; index++) files[`workflows/many/${index}.ts`] = sample(index * 37, index);
  writeFiles(root, files);
  chmodSync(join(root, "agents/run.sh"), 0o700);
  return files;
}

async function pack(files: readonly CollectedFile[]): Promise<{ bytes: Buffer; digest: string }> {
  const packed = await packFiles(files);
  const bytes = readFileSync(packed.path);
  expect(statSync(packed.path).mode & 0o777).toBe(0o600);
  packed.remove();
  expect(existsSync(packed.path)).toBe(false);
  expect(packed.sizeBytes).toBe(bytes.length);
  expect(packed.fileCount).toBe(files.length);
  expect(packed.digest).toBe(createHash("sha256").update(bytes).digest("hex"));
  return { bytes, digest: packed.digest };
}

describe("a project with everything that archives get wrong", () => {
  test("is unpacked by GNU tar as it was", async () => {
    const folder = testFolder();
    const files = writeProject(join(folder, "project"));
    const { bytes } = await pack(await collectProject(join(folder, "project")));
    writeFileSync(join(folder, "p.tgz"), bytes);
    execFileSync("gzip", ["-t", join(folder, "p.tgz")]);
    mkdirSync(join(folder, "out"));
    execFileSync("tar", ["-xzf", join(folder, "p.tgz"), "-C", join(folder, "out")]);
    for (const [path, content] of Object.entries(files)) {
      expect(readFileSync(join(folder, "out", path)).equals(content), path).toBe(true);
      const mode = path === "agents/run.sh" ? 0o755 : 0o644;
      expect(statSync(join(folder, "out", path)).mode & 0o777 & ~process.umask(), path).toBe(
        mode & ~process.umask(),
      );
    }
    expect(countFiles(join(folder, "out"))).toBe(Object.keys(files).length);
    const listed = execFileSync("tar", ["--numeric-owner", "--utc", "-tvzf", join(folder, "p.tgz")], {
      encoding: "utf8",
    });
    for (const line of listed.trimEnd().split("\n"))
      expect(line).toMatch(/^-rw(x|-)r-(x|-)r-(x|-) 0\/0 +\d+ 1970-01-01 00:00 /);
  });

  test("is unpacked by this code as it was", async () => {
    const folder = testFolder();
    const files = writeProject(join(folder, "project"));
    const packed = await packFiles(await collectProject(join(folder, "project")));
    const unpacked = await unpackPackage(createReadStream(packed.path), join(folder, "out"), packageLimits);
    packed.remove();
    expect(unpacked.files.map(({ path }) => path)).toEqual(
      Object.keys(files).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    for (const { path, sizeBytes, digest } of unpacked.files) {
      const content = files[path] ?? Buffer.alloc(0);
      expect(readFileSync(join(folder, "out", path)).equals(content), path).toBe(true);
      expect([sizeBytes, digest]).toEqual([
        content.length,
        createHash("sha256").update(content).digest("hex"),
      ]);
      expect((lstatSync(join(folder, "out", path)).mode & 0o100) !== 0).toBe(path === "agents/run.sh");
    }
  });

  test("is read by nanotar in one stream", async () => {
    const root = join(testFolder(), "project");
    const files = writeProject(root);
    const { bytes } = await pack(await collectProject(root));
    const entries = await parseTarGzip(new Uint8Array(bytes));
    expect(entries).toHaveLength(Object.keys(files).length);
    // nanotar cuts the values of pax headers at the first space.
    const plain = entries.filter(({ name }) => files[name] !== undefined);
    for (const { name, data, type } of plain) {
      expect(type).toBe("file");
      expect(Buffer.from(data ?? []).equals(files[name] ?? Buffer.alloc(1)), name).toBe(true);
    }
    expect(plain.length).toBeGreaterThan(300);
  });

  test("gives the same bytes on Node, Bun and Deno, wherever and whenever it lies", async () => {
    const folder = testFolder();
    for (const place of ["one", "other/place"]) writeProject(join(folder, place));
    utimesSync(join(folder, "other/place/agents/a.ts"), 1, 1);
    chmodSync(join(folder, "other/place/agents/a.ts"), 0o666);
    const main = fileURLToPath(new URL("./pack-main.ts", import.meta.url));
    const bin = join(dirname(main), "..", "..", "node_modules", ".bin");
    const runs = [
      ["node", [main], "one"],
      ["node", [main], "other/place"],
      ["bun", [main], "one"],
      ["deno", ["run", "-A", "--quiet", main], "other/place"],
    ] as const;
    const results: { runtime: string; digest: string; files: unknown }[] = [];
    for (const [runtime, args, place] of runs) {
      const argv = [...args, join(folder, place), join(folder, `out-${results.length}`)];
      const { stdout } = await promisify(execFile)(join(bin, runtime), argv, { maxBuffer: 1e8 });
      results.push(JSON.parse(stdout));
    }
    expect(results.map(({ runtime }) => runtime)).toEqual(runs.map(([runtime]) => runtime));
    expect(new Set(results.map(({ digest }) => digest)).size).toBe(1);
    for (const { files } of results) expect(files).toEqual(results[0]?.files);
    // What the next release packs differently is stored twice; nobody should find out by chance.
    expect(results[0]?.digest).toBe("4df0c0eb1a9515e92e08afa2369c02a67cf0c6d1cc2028b090435bd799633f12");
  });
});

test("the order of the files given does not matter, their content and modes do", async () => {
  const root = testFolder();
  writeFiles(root, { "svc-project.yaml": "a", "agents/b.ts": "b", "agents/B2.ts": "c" });
  const files = await collectProject(root);
  const { digest } = await pack(files);
  expect((await pack(files.toReversed())).digest).toBe(digest);
  chmodSync(join(root, "agents/b.ts"), 0o755);
  const executable = await pack(await collectProject(root));
  expect(executable.digest).not.toBe(digest);
  writeFiles(root, { "agents/b.ts": "c" });
  expect((await pack(await collectProject(root))).digest).not.toBe(executable.digest);
});

test("content from memory is packed like content from a disk", async () => {
  const root = testFolder();
  const content = sample(segmentBytes + 1000, 4);
  writeFiles(root, { "svc-project.yaml": "a", "agents/b.ts": content });
  const files = await collectProject(root);
  const inMemory = files.map((file) => ({
    ...file,
    absolutePath: "",
    content: readFileSync(file.absolutePath),
  }));
  expect((await pack(inMemory)).digest).toBe((await pack(files)).digest);
});

test.each(["larger", "smaller"])(
  "a file that is %s than it was is noticed, and nothing is left",
  async (change) => {
    const root = testFolder();
    // More than two segments, so that threads do the work.
    writeFiles(root, {
      "svc-project.yaml": "a",
      "agents/a": sample(3 * segmentBytes, 5),
      "agents/b.ts": "bbb",
    });
    const files = await collectProject(root);
    writeFiles(root, { "agents/b.ts": change === "larger" ? "bbbb" : "bb" });
    await expect(packFiles(files)).rejects.toThrow(
      "Cannot package agents/b.ts: it changed while it was read.",
    );
    await expect(packFiles(files.filter(({ path }) => path !== "agents/a"))).rejects.toThrow(
      "it changed while it was read",
    );
  },
);

test("sizes around blocks and segments, with headers across the boundary", async () => {
  const sizes = [
    0,
    1,
    511,
    512,
    513,
    1023,
    1024,
    windowBytes,
    segmentBytes - 1024,
    segmentBytes - 512,
    segmentBytes - 511,
  ];
  for (const first of sizes) {
    const files = [
      memoryFile("agents/a", sample(first, 6)),
      memoryFile(`agents/${"é".repeat(120)}/${"é".repeat(120)}`, sample(700, 7)),
      memoryFile("agents/z", Buffer.from("end")),
    ];
    const { bytes } = await pack(files);
    const folder = testFolder();
    writeFileSync(join(folder, "p.tgz"), bytes);
    execFileSync("tar", ["-xzf", "p.tgz"], { cwd: folder });
    for (const { path, content } of files) {
      expect(
        readFileSync(join(folder, path)).equals(content ?? Buffer.alloc(1)),
        `${path} after ${first}`,
      ).toBe(true);
    }
  }
});

test("no files at all make an archive, too", async () => {
  const { bytes } = await pack([]);
  expect(gunzipSync(bytes).equals(Buffer.alloc(1024))).toBe(true);
});

test("less than the package's size is held while it is packed", async () => {
  const root = testFolder();
  const noise = sample(32 * 1024 * 1024, 8);
  for (let index = 0; index < noise.length; index += 64)
    noise.writeUInt32LE((index * 2654435761) >>> 0, index);
  for (const name of ["a", "b", "c"]) writeFiles(root, { [`agents/${name}`]: noise });
  const files = await collectProject(root);
  let sizeBytes = 0;
  const peak = await peakDuring(async () => {
    const packed = await packFiles(files);
    packed.remove();
    sizeBytes = packed.sizeBytes;
  });
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(2 * sizeBytes);
  expect(peak).toBeLessThan(96 * 1024 * 1024);
});

function memoryFile(path: string, content: Uint8Array): CollectedFile {
  return { path, absolutePath: "", sizeBytes: content.length, executable: false, content };
}

function countFiles(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}
