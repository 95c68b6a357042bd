/** Packages whose files are in the way of the files that the server adds to them. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Entry, tar } from "../../project/archives.ts";
import { upload } from "../../support/project.ts";
import { call, expectError } from "../../support/rest.ts";
import { onRuntime } from "../../support/suite.ts";

const project: Entry[] = [
  { name: "svc-project.yaml", data: "name: demo\nversion: '1'\nagents: [{ name: a }]\n" },
  { name: "agents/a.ts", data: "export default () => 1;\n" },
];

onRuntime("deno", "packages", {}, (server) => {
  const deploy = async (entries: readonly Entry[]) => {
    const archive = tar(entries);
    const digest = createHash("sha256").update(archive).digest("hex");
    await upload(server, { bytes: new Uint8Array(gzipSync(archive)), digest });
    return call(server, "POST", "/api/v1/deployments", { json: { digest } });
  };

  test.each<[title: string, entries: Entry[], message: RegExp]>([
    [
      "node_modules is a file",
      [...project, { name: "node_modules", data: "x" }],
      /"node_modules", which must be a folder/,
    ],
    [
      "package.json is a folder",
      [...project, { name: "package.json/", type: "5" }],
      /"package\.json", which must be a file/,
    ],
    [
      "package.json has a file in it",
      [...project, { name: "package.json/x" }],
      /"package\.json", which must be a file/,
    ],
    [
      "the module of error classes is a folder",
      [...project, { name: ".svc-errors.js/x" }],
      /"\.svc-errors\.js", which must be a file/,
    ],
    [
      "the project file is a folder",
      [{ name: "svc-project.yaml/x" }],
      /"svc-project\.yaml", which must be a file/,
    ],
    ["there is no project file", project.slice(1), /svc-project\.yaml: there is no such file/],
    [
      "the project file has 240 MiB of spaces",
      [{ name: "svc-project.yaml", data: Buffer.alloc(240 * 1024 * 1024, " ") }],
      /Invalid configuration in svc-project\.yaml: it may hold at most 262144 bytes, not 251658240/,
    ],
  ])("are rejected when %s", { timeout: 60_000 }, async (_, entries, message) => {
    expectError(await deploy(entries), 400, "invalid_argument", message);
  });

  test("may contain their own node_modules/svc, which the server replaces", async () => {
    const answer = await deploy([...project, { name: "node_modules/svc", data: "not a folder" }]);
    expect(answer.status, answer.text).toBe(200);
  });
});
