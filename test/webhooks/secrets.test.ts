import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadMasterKey, masterKey } from "../../server/secrets/master-key.ts";
import { maxSecretBytes, secretNameProblem, secretValueProblem } from "../../server/secrets/rules.ts";
import { openSecret, sealSecret } from "../../server/secrets/seal.ts";
import fc from "../support/property.ts";

const owner = { orgId: "org_00000000000000000000000001", name: "STRIPE" };
const key = masterKey(Buffer.alloc(32, 1));
const otherKey = masterKey(Buffer.alloc(32, 2));
const value = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 200 })
  .filter((text) => text.isWellFormed());

function open(sealed: string, by = key, whose = owner): string | Error {
  try {
    return openSecret(by, whose, sealed);
  } catch (error) {
    return error as Error;
  }
}

function expectError(result: string | Error, pattern: RegExp): void {
  expect(result).toBeInstanceOf(Error);
  expect((result as Error).message).toMatch(pattern);
}

describe("a sealed secret", () => {
  test("opens only for the same organization and name", () => {
    fc.assert(
      fc.property(value, (text) => {
        const sealed = sealSecret(key, owner, text);
        expect(open(sealed)).toBe(text);
        expectError(
          open(sealed, key, { ...owner, name: "STRIPE2" }),
          /'STRIPE2'.*altered, or sealed for another/,
        );
        const orgId = "org_00000000000000000000000002";
        expectError(open(sealed, key, { ...owner, orgId }), /altered, or sealed for another/);
      }),
    );
  });

  test("does not open if characters move between name and organization", () => {
    const sealed = sealSecret(key, { orgId: "org_a", name: "b" }, "x");
    expectError(open(sealed, key, { orgId: "org_", name: "ab" }), /altered/);
    expectError(open(sealed, key, { orgId: 'org_a","b', name: "" }), /altered/);
  });

  test("does not contain its value and differs each time", () => {
    fc.assert(
      fc.property(value, (text) => {
        const sealed = sealSecret(key, owner, text);
        expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
        expect(sealSecret(key, owner, text)).not.toBe(sealed);
        const box = Buffer.from(sealed.split(".")[3] ?? "", "base64url");
        expect(box.length).toBe(Buffer.byteLength(text) + 16);
        if (text.length > 3) expect(box.includes(text)).toBe(false);
      }),
    );
  });

  test("does not open after a change or truncation", () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.nat(5), (text, position, bit) => {
        const sealed = sealSecret(key, owner, text);
        const at = position % sealed.length;
        const changed =
          sealed.slice(0, at) +
          String.fromCharCode(sealed.charCodeAt(at) ^ (1 << bit)) +
          sealed.slice(at + 1);
        const opened = open(changed);
        // Unused bits of the last base64 character do not change the decoded bytes.
        if (at < sealed.length - 1) expect(opened).toBeInstanceOf(Error);
        else if (!(opened instanceof Error)) expect(opened).toBe(text);
        expect(open(sealed.slice(0, at))).toBeInstanceOf(Error);
        expect(open(`${sealed}.x`)).toBeInstanceOf(Error);
      }),
      { numRuns: 500 },
    );
  });

  test("reports a different master key and a different format", () => {
    const sealed = sealSecret(key, owner, "hush");
    expectError(open(sealed, otherKey), new RegExp(`'STRIPE'.*${key.id}.*${otherKey.id}.*SVC_MASTER_KEY`));
    expectError(open(sealed.replace("v1.", "v9.")), /'STRIPE'.*format v1/);
    expectError(open(""), /format v1/);
    const relabelled = sealed.replace(key.id, otherKey.id);
    expectError(open(relabelled, otherKey), /altered/);
  });
});

describe("the master key", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-secrets-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is read from hex, base64 and base64url", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (raw) => {
        const bytes = Buffer.from(raw);
        const texts = [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")];
        for (const text of [
          ...texts,
          bytes.toString("hex").toUpperCase(),
          ` ${bytes.toString("base64")}\n`,
        ]) {
          expect(loadMasterKey(text, "/does-not-exist").id).toBe(masterKey(bytes).id);
        }
      }),
    );
  });

  test.each([
    "short",
    "a".repeat(63),
    "g".repeat(64),
    "a".repeat(65),
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(33).toString("base64"),
    Buffer.alloc(16).toString("hex"),
    `${"!".repeat(43)}=`,
    " ",
  ])("rejects %j without repeating it", (text) => {
    let message = "";
    try {
      loadMasterKey(text, folder);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/Cannot use SVC_MASTER_KEY: it must be 32 bytes/);
    if (text.trim() !== "") expect(message).not.toContain(text);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is created once, readable by its owner only, and read again", () => {
    const created = loadMasterKey(undefined, folder);
    expect(readdirSync(folder)).toEqual(["master.key"]);
    const path = join(folder, "master.key");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const text = readFileSync(path, "utf8");
    expect(Buffer.from(text, "base64")).toHaveLength(32);
    expect(loadMasterKey("", folder).id).toBe(created.id);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(openSecret(loadMasterKey(undefined, folder), owner, sealSecret(created, owner, "x"))).toBe("x");
    expect(loadMasterKey(text, "/does-not-exist").id).toBe(created.id);
  });

  test("a file that is damaged or that other users may read is an error and is not replaced", () => {
    const path = join(folder, "master.key");
    writeFileSync(path, Buffer.alloc(32, 7).toString("base64"), { mode: 0o600 });
    chmodSync(path, 0o640);
    expect(() => loadMasterKey(undefined, folder)).toThrow(
      /master\.key: only its owner may have access.*chmod 600/,
    );
    chmodSync(path, 0o600);
    for (const text of ["", "torn"]) {
      writeFileSync(path, text);
      expect(() => loadMasterKey(undefined, folder)).toThrow(/master\.key: it must be 32 bytes/);
      expect(readFileSync(path, "utf8")).toBe(text);
    }
    rmSync(path);
    expect(() => loadMasterKey(undefined, join(folder, "none"))).toThrow(/ENOENT/);
  });

  test("servers of all runtimes that start at the same time use the same key", async () => {
    const module = new URL("../../server/secrets/master-key.ts", import.meta.url);
    const program = join(folder, "program.mjs");
    // Each program waits for a line, so that all start together.
    writeFileSync(
      program,
      `import { loadMasterKey } from ${JSON.stringify(module)};
      process.stdin.once("data", () => {
        console.log(loadMasterKey(undefined, ${JSON.stringify(folder)}).id);
        process.exit();
      });
      console.log("ready");`,
    );
    const commands = [["node"], ["bun"], ["deno", "run", "-A"], ["node"], ["bun"], ["node"]] as const;
    const children = commands.map(([command, ...args]) =>
      spawn(command, [...args, program], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    const outputs = children.map(async (child) => {
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      await once(child, "close");
      return output.replace("ready", "").trim();
    });
    await Promise.all(children.map((child) => once(child.stdout, "data")));
    for (const child of children) child.stdin.write("go\n");
    const ids = await Promise.all(outputs);
    expect(new Set(ids)).toEqual(new Set([loadMasterKey(undefined, folder).id]));
    expect(readdirSync(folder).sort()).toEqual(["master.key", "program.mjs"]);
  });
});

describe("validation", () => {
  test("of names", () => {
    for (const name of ["STRIPE_KEY", "a", "0-x", "x".repeat(64)]) expect(secretNameProblem(name)).toBeNull();
    for (const name of ["", "_a", "__proto__", "a b", "a.b", "é", "x".repeat(65)]) {
      expect(secretNameProblem(name)).toMatch(/^Cannot use the secret's name: .*\.$/);
    }
  });

  test("of values", () => {
    for (const text of ["x", " \n", "日本", "\u0000", "x".repeat(maxSecretBytes)]) {
      expect(secretValueProblem(text)).toBeNull();
    }
    expect(secretValueProblem("")).toMatch(/must not be empty/);
    expect(secretValueProblem("é".repeat(maxSecretBytes / 2 + 1))).toMatch(
      /at most 65536 bytes, and has 65538/,
    );
    expect(secretValueProblem("x\ud800")).toMatch(/well-formed/);
  });
});
