import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { packageLimits } from "../../project/limits.ts";
import { PackageError, unpackPackage } from "../../project/unpack.ts";
import { type Entry, inPieces, tar, tarGz } from "./archives.ts";
import { testFolder } from "./folder.ts";
import { peakDuring } from "./peak.ts";

const limits = { compressedBytes: 1024 * 1024, unpackedBytes: 4 * 1024 * 1024, files: 100 };

async function unpack(
  bytes: Uint8Array,
  target: string,
  own: Partial<typeof limits> = {},
): ReturnType<typeof unpackPackage> {
  const layout = { files: ["errors.js"], folders: ["node_modules"] };
  return unpackPackage(inPieces(bytes), target, { ...limits, ...own }, layout);
}

/** Unpacks an archive that must be rejected, and checks that no file remains. */
async function rejected(bytes: Uint8Array, own: Partial<typeof limits> = {}): Promise<PackageError> {
  const folder = testFolder();
  const around = join(folder, "around");
  mkdirSync(around);
  const error = await unpack(bytes, join(around, "target"), own).then(
    () => new Error("the archive was accepted"),
    (reason: Error) => reason,
  );
  expect(error, String(error)).toBeInstanceOf(PackageError);
  expect(readdirSync(around)).toEqual([]);
  expect(readdirSync(folder)).toEqual(["around"]);
  return error as PackageError;
}

test("unpacks files and folders with their modes and digests", async () => {
  const target = join(testFolder(), "target");
  const { files } = await unpack(
    tarGz([
      { name: "svc-project.yaml", data: "name: a\n" },
      { name: "agents/", type: "5" },
      { name: "agents/a.ts", data: "export default 1;\n", mode: 0o777 },
      { name: "agents/empty", data: "" },
      { name: "x", pax: { path: `agents/${"é".repeat(60)}/a = b c` }, data: "long" },
      { name: "old.ts", prefix: "agents/deep", data: "prefix" },
      { name: "agents/big", data: Buffer.alloc(700_000, 7) },
      { name: "agents/sized", pax: { size: "3", mtime: "1.5" }, data: "abc", size: 3 },
    ]),
    target,
  );
  expect(files.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
    ["svc-project.yaml", 8],
    ["agents/a.ts", 18],
    ["agents/empty", 0],
    [`agents/${"é".repeat(60)}/a = b c`, 4],
    ["agents/deep/old.ts", 6],
    ["agents/big", 700_000],
    ["agents/sized", 3],
  ]);
  // printf 'name: a\n' | sha256sum
  expect(files[0]?.digest).toBe("1e7e5f3c45fc71cc0d92ffd6a4136ce35256118f2cb9a940b09a9e336022a571");
  expect(readFileSync(join(target, "agents", "a.ts"), "utf8")).toBe("export default 1;\n");
  expect(readFileSync(join(target, "agents", "big")).equals(Buffer.alloc(700_000, 7))).toBe(true);
  expect(lstatSync(join(target, "agents", "a.ts")).mode & 0o777).toBe(0o755);
  expect(lstatSync(join(target, "agents", "empty")).mode & 0o777).toBe(0o644);
});

test("accepts the paths of the layout with the right types", async () => {
  const entries: Entry[] = [
    { name: "errors.js" },
    { name: "node_modules/a/errors.js/x" },
    { name: "agents/node_modules" },
  ];
  const { files } = await unpack(tarGz(entries), join(testFolder(), "target"));
  expect(files).toHaveLength(3);
});

test("rejects a project file by its size in the header, before its content arrives", async () => {
  const block = tar([{ name: "svc-project.yaml", size: 240 * 1024 * 1024 }], { end: false });
  const error = await rejected(gzipSync(block), { unpackedBytes: 2 ** 30 });
  expect(error.message).toBe(
    "Invalid configuration in svc-project.yaml: it may hold at most 262144 bytes, not 251658240.",
  );
  expect(error.reason).toBe("limit");
});

describe("rejects", () => {
  const hostile: [title: string, entries: Entry[], message: RegExp][] = [
    ["an absolute path", [{ name: "/etc/passwd", data: "x" }], /"\/etc\/passwd": a path is relative/],
    ["a path upwards", [{ name: "../x", data: "x" }], /"\.\.\/x": "\.\." is not accepted/],
    ["a path upwards from within", [{ name: "agents/../../x", data: "x" }], /"\.\."/],
    ["a path upwards in pax", [{ name: "ok", pax: { path: "../x" }, data: "x" }], /"\.\.\/x"/],
    ["an absolute path in pax", [{ name: "ok", pax: { path: "/tmp/x" }, data: "x" }], /"\/tmp\/x"/],
    ["a path upwards in the prefix", [{ name: "x", prefix: "..", data: "x" }], /"\.\.\/x"/],
    ["a dot", [{ name: "./agents/x", data: "x" }], /"\." is not accepted/],
    ["an empty segment", [{ name: "agents//x", data: "x" }], /no empty segments/],
    ["a folder upwards", [{ name: "../x/", type: "5" }], /"\.\."/],
    ["the folder itself", [{ name: "./", type: "5" }], /"\." is not accepted/],
    ["no name", [{ name: "" }], /has no name/],
    ["a symbolic link", [{ name: "l", type: "2", linkname: "/etc/passwd" }], /"l" is a symbolic link/],
    ["a hard link", [{ name: "l", type: "1", linkname: "x" }], /a hard link/],
    ["a character device", [{ name: "d", type: "3" }], /a character device/],
    ["a block device", [{ name: "d", type: "4" }], /a block device/],
    ["a named pipe", [{ name: "p", type: "6" }], /a named pipe/],
    ["an unknown type", [{ name: "p", type: "Z" }], /an entry of type "Z"/],
    ["a sparse file of GNU tar", [{ name: "p", type: "S" }], /an entry of type "S"/],
    ["a sparse file of pax", [{ name: "p", pax: { "GNU.sparse.major": "1" }, data: "x" }], /a sparse file/],
    ["a global header", [{ name: "g", type: "g", data: "20 path=agents/abcd\n" }], /a global pax header/],
    [
      "a project file that is a folder",
      [{ name: "svc-project.yaml/", type: "5" }],
      /"svc-project.yaml", which must be a file/,
    ],
    [
      "a file in a folder that must be a file",
      [{ name: "Errors.js/x" }],
      /the folder "errors.js", which must be a file/,
    ],
    [
      "a folder that must be a file",
      [{ name: "errors.js/", type: "5" }],
      /the folder "errors.js", which must be a file/,
    ],
    [
      "a file that must be a folder",
      [{ name: "node_modules" }],
      /the file "node_modules", which must be a folder/,
    ],
    ["a file that must be a folder, in upper case", [{ name: "NODE_MODULES" }], /which must be a folder/],
    [
      "a path twice",
      [
        { name: "a", data: "1" },
        { name: "a", data: "2" },
      ],
      /the path "a" twice/,
    ],
    [
      "paths that differ in case",
      [{ name: "agents/A.ts" }, { name: "agents/a.ts" }],
      /one on some file systems/,
    ],
    [
      "folders that differ in case",
      [{ name: "agents/A/x" }, { name: "agents/a/y" }],
      /one on some file systems/,
    ],
    [
      "paths that differ in composition",
      [{ name: "e\u0301" }, { name: "\u00e9" }],
      /one on some file systems/,
    ],
    [
      "paths that differ in a sharp s",
      [{ name: "STRASSE" }, { name: "stra\u00dfe" }],
      /one on some file systems/,
    ],
    [
      "a file in a file",
      [
        { name: "a", data: "1" },
        { name: "a/b", data: "2" },
      ],
      /"a".* twice/,
    ],
    [
      "a file over a folder",
      [
        { name: "a/b", data: "1" },
        { name: "a", data: "2" },
      ],
      /"a" twice/,
    ],
    ["a folder with content", [{ name: "a/", type: "5", data: "x" }], /the folder "a\/" has content/],
    ["a file named like a folder", [{ name: "a/", data: "x" }], /named like a folder/],
    [
      "a segment over 255 bytes",
      [{ name: "x", pax: { path: `agents/${"n".repeat(256)}` } }],
      /at most 255 bytes/,
    ],
    ["a NUL in a path", [{ name: "x", pax: { path: "a\0b" } }], /no NUL/],
    ["a wrong checksum", [{ name: "a", badChecksum: true }], /the checksum of a header is wrong/],
    [
      "a size that is not a number",
      [{ name: "a", size: "zzzzzzzzzzz\0" }],
      /the size of "a" is not a number/,
    ],
    ["a size below zero", [{ name: "a", size: "-0000000001\0" }], /the size of "a" is not a number/],
    [
      "a size in base 256",
      [{ name: "a", size: "\x80\0\0\0\0\0\0\0\0\0\0\x01" }],
      /the size of "a" is not a number/,
    ],
    [
      "a pax size that is not a number",
      [{ name: "a", pax: { size: "-1" } }],
      /the size of "a" is not a number/,
    ],
    [
      "a malformed pax header",
      [{ name: "p", type: "x", data: "99 path=x\n" }, { name: "a" }],
      /a pax header cannot be read/,
    ],
    ["an empty pax header", [{ name: "p", type: "x" }, { name: "a" }], /a pax header must have 1 to/],
    [
      "a pax header before a pax header",
      [
        { name: "p", type: "x", data: "10 path=x\n" },
        { name: "a", pax: { path: "b" } },
      ],
      /two pax headers/,
    ],
    ["a pax header at the end", [{ name: "p", type: "x", data: "10 path=x\n" }], /no entry after it/],
    [
      "a huge pax header",
      [{ name: "p", type: "x", data: "x".repeat(70_000) }],
      /a pax header must have 1 to 65536 bytes/,
    ],
    [
      "paths beyond what the disk takes",
      [{ name: "x", pax: { path: Array(60).fill("d".repeat(100)).join("/") } }],
      /file system cannot hold/,
    ],
  ];
  test.each(hostile)("%s", async (_, entries, message) => {
    const error = await rejected(tarGz([{ name: "first", data: "1" }, ...entries]));
    expect(error.message).toMatch(message);
    expect(error.reason).toBe("malformed");
  });

  test("a name that is not UTF-8", async () => {
    const bytes = tar([{ name: "xx" }]);
    bytes[0] = 0xff;
    // The byte was an x before, 120.
    bytes.write(
      `${(Number.parseInt(bytes.toString("latin1", 148, 154), 8) + 255 - 120).toString(8).padStart(6, "0")}`,
      148,
    );
    expect((await rejected(gzipSync(bytes))).message).toMatch(/not UTF-8/);
  });

  test("other formats, damaged archives, and archives cut off anywhere", async () => {
    const whole = tarGz([
      { name: "a", data: "x".repeat(5000) },
      { name: "b", data: "y" },
    ]);
    expect((await rejected(Buffer.from("not gzip at all"))).message).toMatch(/not a gzip archive/);
    expect((await rejected(tar([{ name: "a", data: "x" }]))).message).toMatch(/not a gzip archive/);
    expect((await rejected(Buffer.alloc(0))).reason).toBe("malformed");
    for (let length = 0; length < whole.length; length += 7) {
      expect((await rejected(whole.subarray(0, length))).reason).toBe("malformed");
    }
    const damaged = Buffer.from(whole);
    damaged[damaged.length - 6] = (damaged[damaged.length - 6] ?? 0) ^ 1;
    expect((await rejected(damaged)).message).toMatch(/damaged/);
    for (const keep of [100, 512, 700, 1024 + 4096]) {
      expect(
        (await rejected(gzipSync(tar([{ name: "a", data: "x".repeat(5000) }]).subarray(0, keep)))).message,
      ).toMatch(/cut off/);
    }
    expect((await rejected(tarGz([{ name: "a", data: "x" }], { end: false }))).message).toMatch(/cut off/);
  });
});

describe("rejects more than the limit of", () => {
  const noise = Buffer.from(
    Array.from({ length: 50_000 }, (_, index) => ((index * 7919) % 251) ^ (index >> 5)),
  );

  test("compressed bytes", async () => {
    const bytes = tarGz([{ name: "a", data: noise }]);
    const error = await rejected(bytes, { compressedBytes: bytes.length - 1 });
    expect([error.reason, error.message]).toEqual([
      "limit",
      `The package has more than ${bytes.length - 1} bytes compressed.`,
    ]);
    await unpack(bytes, join(testFolder(), "t"), { compressedBytes: bytes.length });
  });

  test("unpacked bytes, including headers and padding", async () => {
    const bytes = tarGz([{ name: "a", data: noise }]);
    const unpackedBytes = tar([{ name: "a", data: noise }]).length;
    const error = await rejected(bytes, { unpackedBytes: unpackedBytes - 1 });
    expect([error.reason, error.message]).toEqual([
      "limit",
      `The package has more than ${unpackedBytes - 1} bytes unpacked.`,
    ]);
    await unpack(bytes, join(testFolder(), "t"), { unpackedBytes });
  });

  test("unpacked bytes, by the size in a header alone", async () => {
    expect((await rejected(tarGz([{ name: "a", size: 0o77777777777 }]))).reason).toBe("limit");
  });

  test("files, counting folders", async () => {
    const entries = Array.from({ length: 11 }, (_, index) => ({
      name: `a${index}`,
      ...(index % 2 === 1 && { type: "5" }),
    }));
    const error = await rejected(tarGz(entries), { files: 10 });
    expect([error.reason, error.message]).toEqual(["limit", "The package has more than 10 files."]);
    await unpack(tarGz(entries), join(testFolder(), "t"), { files: 11 });
  });

  test("folders, counting those that only occur in paths", async () => {
    const error = await rejected(tarGz([{ name: "x", pax: { path: `${"d/".repeat(101)}f` } }]));
    expect([error.reason, error.message]).toEqual(["limit", "The package has more than 100 folders."]);
  });

  test("unpacked bytes of a decompression bomb", async () => {
    // 1 GiB of zeros in 1 MB, as many gzip members, so that the test needs little memory.
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const head = gzipSync(tar([{ name: "a", size: 1024 ** 3 }], { end: false }));
    const bomb = Buffer.concat([head, ...Array<Buffer>(64).fill(member)]);
    const own = { compressedBytes: 50 * 1024 * 1024, unpackedBytes: 2 * 1024 ** 3 };
    // Rejected by the size in the header, and by the decompressed bytes after the end of the archive.
    expect((await rejected(bomb, { ...own, unpackedBytes: 1024 ** 2 })).reason).toBe("limit");
    const after = Buffer.concat([tarGz([{ name: "a", data: "x" }]), ...Array<Buffer>(64).fill(member)]);
    const before = process.memoryUsage().rss;
    expect((await rejected(after, { ...own, unpackedBytes: 200 * 1024 ** 2 })).reason).toBe("limit");
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 ** 2);
  });
});

test("does not change an existing folder", async () => {
  const target = join(testFolder(), "target");
  mkdirSync(join(target, "agents"), { recursive: true });
  await expect(unpack(tarGz([{ name: "a", data: "x" }]), target)).rejects.toThrow(/EEXIST|ENOTEMPTY/);
  expect(readdirSync(target)).toEqual(["agents"]);
  expect(readdirSync(join(target, ".."))).toEqual(["target"]);
});

test("passes on an error of the source and leaves no file behind", async () => {
  const folder = testFolder();
  const bytes = tarGz([{ name: "a", data: Buffer.alloc(300_000, 1) }]);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, bytes.length / 2);
    throw new Error("connection reset");
  }
  await expect(unpackPackage(broken(), join(folder, "t"), packageLimits)).rejects.toThrow("connection reset");
  expect(existsSync(join(folder, "t"))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test("returns to the event loop between pieces, with many files and with one large file", async () => {
  const turnsOf = async (bytes: Buffer): Promise<number> => {
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    await unpack(bytes, join(testFolder(), "t"), { compressedBytes: 1e8, unpackedBytes: 1e8, files: 5000 });
    counting = false;
    return turns;
  };
  const pieces = (20 * 1024 * 1024) / (64 * 1024);
  expect(
    await turnsOf(tarGz([{ name: "large", data: Buffer.alloc(20 * 1024 * 1024, "text") }])),
  ).toBeGreaterThan(pieces / 2);
  // 64 KiB hold 128 headers.
  const many = Array.from({ length: 4000 }, (_, index) => ({ name: `folder${index}/`, type: "5" }));
  expect(await turnsOf(tarGz(many))).toBeGreaterThan(1000);
});

test("holds a few MiB, whatever the size of the package", async () => {
  const data = Buffer.alloc(64 * 1024 * 1024, "abc");
  const bytes = tarGz([
    { name: "a", data },
    { name: "b", data },
    { name: "c", data },
  ]);
  const peak = await peakDuring(() =>
    unpack(bytes, join(testFolder(), "t"), { compressedBytes: 1e8, unpackedBytes: 1e9 }),
  );
  expect(peak).toBeGreaterThan(0);
  // 192 MiB are unpacked. The amount of garbage depends on the runtime.
  expect(peak).toBeLessThan(64 * 1024 * 1024);
});
