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
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { parseTarGzip } from "nanotar";
import { describe, expect, test, vi } from "vitest";
import { type CollectedFile, collectProject } from "../../project/collect.ts";
import { packageLimits } from "../../project/limits.ts";
import { packFiles } from "../../project/pack.ts";
import { comparePaths } from "../../project/package-file.ts";
import { unpackPackage } from "../../project/unpack.ts";
import { testFolder, writeFiles } from "./folder.ts";
import { peakDuring } from "./peak.ts";
import { sample } from "./sample.ts";

/** More than the size of the pieces in which packages are hashed and compressed. */
const largeBytes = 3 * 1024 * 1024 + 17;
const longName = `agents/${"deep/".repeat(40)}${"n".repeat(200)}.ts`;

/** A project with the file names, sizes and modes that archives handle wrong most often. */
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
    "workflows/big": sample(largeBytes, 2),
    "workflows/noise": sample(1024 * 1024, 3),
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
  expect(packed.files).toEqual(
    files
      .map((file) => ({ path: file.path, digest: sha256(file.content ?? readFileSync(file.absolutePath)) }))
      .toSorted((a, b) => comparePaths(a.path, b.path)),
  );
  expect(packed.digest).toBe(sha256(gunzipSync(bytes)));
  return { bytes, digest: packed.digest };
}

describe("a package of unusual names, sizes and modes", () => {
  test("is extracted by GNU tar without a difference", async () => {
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

  test("is unpacked by unpackPackage without a difference", async () => {
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
      expect([sizeBytes, digest]).toEqual([content.length, sha256(content)]);
      expect((lstatSync(join(folder, "out", path)).mode & 0o100) !== 0).toBe(path === "agents/run.sh");
    }
  });

  test("is read by nanotar, except for names that need a pax header", async () => {
    const root = join(testFolder(), "project");
    const files = writeProject(root);
    const { bytes } = await pack(await collectProject(root));
    const entries = await parseTarGzip(new Uint8Array(bytes));
    expect(entries).toHaveLength(Object.keys(files).length);
    // nanotar cuts pax values at the first space.
    const plain = entries.filter(({ name }) => files[name] !== undefined);
    for (const { name, data, type } of plain) {
      expect(type).toBe("file");
      expect(Buffer.from(data ?? []).equals(files[name] ?? Buffer.alloc(1)), name).toBe(true);
    }
    expect(plain.length).toBeGreaterThan(300);
  });

  test("has the same digest on Node, Bun and Deno, wherever the project is and whatever its times are", async () => {
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
    // A change of the format makes every project appear changed, so it must not happen unnoticed.
    expect(results[0]?.digest).toBe("25db8e1991af9402569445e2f80b906c981fc6e05a92717c79c9789888edba88");
  });
});

test("the digest depends on content and modes, not on the order of the files", async () => {
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

test("packages content from memory like content from disk", async () => {
  const root = testFolder();
  const content = sample(largeBytes, 4);
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
  "rejects a file that became %s, and leaves no file behind",
  async (change) => {
    const root = testFolder();
    writeFiles(root, { "svc-project.yaml": "a", "agents/a": sample(largeBytes, 5), "agents/b.ts": "bbb" });
    const files = await collectProject(root);
    writeFiles(root, { "agents/b.ts": change === "larger" ? "bbbb" : "bb" });
    vi.stubEnv("TMPDIR", testFolder());
    await expect(packFiles(files)).rejects.toThrow(
      "Cannot package agents/b.ts: it changed while it was read.",
    );
    expect(readdirSync(tmpdir())).toEqual([]);
    vi.unstubAllEnvs();
  },
);

test("packages files of sizes around a block and a piece", async () => {
  const pieceBytes = 512 * 1024;
  for (const first of [0, 1, 511, 512, 513, 1023, 1024, pieceBytes - 512, pieceBytes, 2 * pieceBytes + 1]) {
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
      const expected = content ?? Buffer.alloc(1);
      expect(readFileSync(join(folder, path)).equals(expected), `${path} after ${first}`).toBe(true);
    }
  }
});

test("packages an empty list of files", async () => {
  const { bytes } = await pack([]);
  expect(gunzipSync(bytes).equals(Buffer.alloc(1024))).toBe(true);
});

test("holds less memory than the size of the package", async () => {
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

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function memoryFile(path: string, content: Uint8Array): CollectedFile {
  return { path, absolutePath: "", sizeBytes: content.length, executable: false, content };
}

function countFiles(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .length;
}
