/** A service that keeps its packages in S3, from the push to the deletion. The proxy records the requests to S3. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Housekeeper } from "../../server/housekeeper.ts";
import { openS3Storage } from "../../server/storage/s3/index.ts";
import type { S3Storage } from "../../server/storage/s3/storage.ts";
import { all } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { newFolder, type Result, svc, writeFiles } from "../cli/support.ts";
import { FaultProxy, type SeenRequest } from "../support/fault-proxy.ts";
import { call, ended, expectError, ok, run, runToEnd } from "../support/rest.ts";
import { commandRuntimes } from "../support/runtimes.ts";
import { configOf, type S3Endpoint, startS3, urlOf } from "../support/s3.ts";
import { TestServer } from "../support/server.ts";
import type { DeploymentJson, DeploymentPage, HealthJson, UploadJson } from "../support/shapes.ts";
import { limits, put, sample } from "./samples.ts";

const dayMs = 86_400_000;
let s3: S3Endpoint;
let proxy: FaultProxy;

beforeAll(async () => {
  s3 = await startS3();
  proxy = new FaultProxy(s3.endpoint);
  await proxy.start();
});

afterAll(async () => {
  await proxy.close();
  await s3.close();
});

const isUpload = ({ method, url }: SeenRequest) => method === "PUT" && url.includes("/uploads/");
const isPackage = ({ url }: SeenRequest) => url.includes("/packages/org_");

describe.each(commandRuntimes("bun"))("a service on %s with packages in S3", (runtime) => {
  let server: TestServer;
  let project: string;

  const cli = (line: string): Promise<Result> => {
    const env = { SVC_API_KEY: server.apiKey, SVC_BASE_URL: server.url };
    return svc(runtime, line.split(" "), { cwd: project, env });
  };
  const push = async (version: string): Promise<void> => {
    await writeFiles(project, {
      "svc-project.yaml": `name: stored\nversion: "${version}"\nagents:\n  - name: version\n`,
      "agents/version.js": `export default () => "${version}";\n`,
    });
    const { code, stderr } = await cli("push --force");
    expect(stderr).toContain(`Deployed stored ${version}`);
    expect(code).toBe(0);
  };
  const deployments = async (): Promise<DeploymentJson[]> =>
    (await ok<DeploymentPage>(server, "GET", "/api/v1/deployments")).deployments;
  const cached = () =>
    readdirSync(join(server.dataDir, "packages")).flatMap((org) =>
      readdirSync(join(server.dataDir, "packages", org)),
    );

  beforeAll(async () => {
    proxy.reset();
    project = await newFolder();
    server = new TestServer(runtime, { env: { ...s3.env, SVC_STORAGE_URL: urlOf(s3, proxy.url) } });
    await server.start();
  });

  afterAll(async () => {
    await server.discard(false);
    rmSync(project, { recursive: true, force: true });
  });

  test("names the bucket at the start and not the credentials", async () => {
    expect(server.output).toMatch(/^Packages in s3:\/\/\S+ at http:\/\/127\.0\.0\.1:\d+$/m);
    expect(server.output).not.toContain(s3.env.AWS_SECRET_ACCESS_KEY);
    expect((await ok<HealthJson>(server, "GET", "/health")).checks.storage).toBe("ok");
  });

  test("deploys what svc push sends directly to S3, and rolls back", async () => {
    await push("1");
    const [upload] = proxy.seen.filter(isUpload);
    expect(upload?.url).toMatch(/X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost/);
    expect(upload?.headers).toMatchObject({ "content-type": "application/gzip" });
    expect(upload?.headers.authorization).toBeUndefined();
    expect(existsSync(join(server.dataDir, "objects"))).toBe(false);
    expect((await runToEnd(server, "version")).output).toBe("1");

    await push("2");
    expect((await runToEnd(server, "version")).output).toBe("2");
    const first = (await deployments()).find(({ version }) => version === "1");
    const back = await cli(`deployments rollback ${first?.deployment_id} --force`);
    expect(back.code, back.stderr).toBe(0);
    expect((await runToEnd(server, "version")).output).toBe("1");
  });

  test("does not take a stored package again", async () => {
    proxy.reset();
    const again = await cli("push --force --redeploy");
    expect(again.code, again.stderr).toBe(0);
    expect(proxy.seen.filter(isUpload)).toEqual([]);
  });

  test("redirects downloads to S3", async () => {
    const [{ deployment_id = "", digest = "" } = {}] = await deployments();
    const answer = await call(server, "GET", `/api/v1/deployments/${deployment_id}/download`);
    expect(answer.status).toBe(307);
    const location = answer.headers.get("location") ?? "";
    expect(new URL(location).origin).toBe(proxy.url);
    expect(location).toContain(digest);
    expect((await fetch(location)).status).toBe(200);
    const file = join(project, "package.tar.gz");
    const { code, stderr } = await cli(`deployments download ${deployment_id} --output ${file}`);
    expect(code, stderr).toBe(0);
    expect(readFileSync(file).length).toBeGreaterThan(100);
    rmSync(file);
  });

  test("loads packages from S3 after a restart without a local copy", async () => {
    await server.kill("SIGTERM");
    rmSync(join(server.dataDir, "packages"), { recursive: true });
    await server.start();
    proxy.reset();
    expect((await runToEnd(server, "version")).output).toBe("2");
    expect((await runToEnd(server, "version")).output).toBe("2");
    expect(proxy.seen.filter(isPackage)).toHaveLength(1);
    expect(cached()).toHaveLength(1);
  });

  test("rejects an upload whose content differs, and takes the right one afterwards", async () => {
    const announced = sample(500);
    const other = sample(500);
    const json = { digest: announced.digest, size_bytes: announced.bytes.length };
    const begun = await ok<UploadJson>(server, "POST", "/api/v1/uploads", { json });
    const deploy = () => call(server, "POST", "/api/v1/deployments", { json: { digest: announced.digest } });
    expectError(await deploy(), 400, "failed_precondition", /the package is not stored; upload it first/);
    expect((await put(begun.url, other.bytes)).status).toBe(200);
    expectError(await deploy(), 400, "invalid_argument", /must have digest/, "UPLOAD_MISMATCH");
    expect(await ok<UploadJson>(server, "POST", "/api/v1/uploads", { json })).toMatchObject({
      already_stored: false,
    });
    expect((await put(begun.url, announced.bytes)).status).toBe(200);
    // The package is confirmed now; its content is not an archive.
    expectError(await deploy(), 400, "invalid_argument", /archive/);
    expect(await ok<UploadJson>(server, "POST", "/api/v1/uploads", { json })).toMatchObject({
      already_stored: true,
    });
  });

  test("takes a large package in parts, and only a failed part again", async () => {
    writeFileSync(join(project, "agents/large.bin"), randomBytes(17 * 2 ** 20));
    const isPart = (request: SeenRequest) => isUpload(request) && request.url.includes("/part-2");
    proxy.reset((request, count) => (count === 0 && isPart(request) ? { kind: "lost" } : null));
    const { code, stderr } = await cli("push --force --redeploy");
    rmSync(join(project, "agents/large.bin"));
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/warning: The upload failed .*; retrying/i);
    const parts = proxy.seen.filter(isUpload).map(({ url }) => /part-\d/.exec(url)?.[0]);
    expect(parts).toEqual(["part-1", "part-2", "part-2", "part-3"]);
    expect(
      proxy.seen.some(({ url }) => isPackage({ url } as SeenRequest) && url.includes("partNumber=1")),
    ).toBe(true);
    expect((await runToEnd(server, "version")).output).toBe("2");
  });

  test("reports an unavailable S3, keeps executions queued, and continues afterwards", async () => {
    await server.kill("SIGTERM");
    rmSync(join(server.dataDir, "packages"), { recursive: true });
    await server.start();
    proxy.reset(() => ({ kind: "status", status: 503, code: "SlowDown" }));
    const waiting = await run(server, "version");
    // As soon as the package of the execution cannot be loaded.
    await expect
      .poll(async () => (await call(server, "GET", "/readyz", { key: null })).status, { timeout: 30_000 })
      .toBe(503);
    const health = await call<HealthJson>(server, "GET", "/health");
    expect(health.json.checks.storage).toBe("failing: it answered 503 SlowDown");
    const refused = await cli("push --force --redeploy");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /object storage is not available: it answered 503 SlowDown\. Try again later/,
    );
    expect(
      (await ok<{ status: string }>(server, "GET", `/api/v1/executions/${waiting.execution_id}`)).status,
    ).toMatch(/queued|running/);
    proxy.reset();
    expect((await ended(server, waiting.execution_id)).output).toBe("2");
    await expect
      .poll(async () => (await call(server, "GET", "/readyz", { key: null })).status, { timeout: 30_000 })
      .toBe(200);
  });

  test("deletes packages and abandoned uploads from S3", async () => {
    const abandoned = sample(500);
    const json = { digest: abandoned.digest, size_bytes: abandoned.bytes.length };
    const begun = await ok<UploadJson>(server, "POST", "/api/v1/uploads", { json });
    await put(begun.url, abandoned.bytes);
    const stored = await deployments();
    for (const { deployment_id } of stored) {
      const { code, stderr } = await cli(`deployments delete ${deployment_id} --force`);
      expect(code, stderr).toBe(0);
    }
    const { organization } = await ok<HealthJson>(server, "GET", "/health");
    await server.kill("SIGTERM");
    const folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
    const storage = await openS3Storage(folder, configOf(s3), limits);
    const sizes = () =>
      Promise.all(stored.map(({ digest }) => storage.sizeOf({ orgId: organization, digest })));
    expect(await sizes()).not.toContain(null);
    proxy.reset();
    await houseKeep(server.dataDir, await openS3Storage(folder, configOf(s3, proxy.url), limits));
    expect(new Set(await sizes())).toEqual(new Set([null]));
    const removed = proxy.seen.filter(({ method }) => method === "DELETE").map(({ url }) => url);
    expect(removed.some((url) => url.includes(`/uploads/${organization}/${begun.upload_id}/`))).toBe(true);
    rmSync(folder, { recursive: true });
  });
});

test("svc serve names a wrong secret and does not start", async () => {
  const env = { ...s3.env, SVC_STORAGE_URL: urlOf(s3), AWS_SECRET_ACCESS_KEY: "the-wrong-secret" };
  const { code, stdout, stderr } = await svc(
    "node",
    ["serve", "--port", "0", "--data", join(await newFolder(), "data")],
    {
      env,
    },
  );
  expect(stderr).toMatch(
    /^error: Cannot use the object storage s3:\/\/\S+ at http:\S+: it rejects the credentials \(SignatureDoesNotMatch\)\.$/m,
  );
  expect(stderr).toMatch(/^hint: {2}Check SVC_STORAGE_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY/m);
  expect(stdout + stderr).not.toContain("the-wrong-secret");
  expect(code).toBe(1);
});

test("svc serve names a missing variable", async () => {
  const env = { ...s3.env, SVC_STORAGE_URL: urlOf(s3), AWS_SECRET_ACCESS_KEY: "" };
  const { code, stderr } = await svc(
    "node",
    ["serve", "--port", "0", "--data", join(await newFolder(), "data")],
    { env },
  );
  expect(stderr).toMatch(/^error: Cannot use SVC_STORAGE_URL: .*AWS_SECRET_ACCESS_KEY is not set\.$/m);
  expect(code).toBe(1);
});

/** Runs the housekeeper of a stopped server as of two days later. */
async function houseKeep(dataDir: string, storage: S3Storage): Promise<void> {
  const engine = openSqlite(dataDir);
  const packages = { remove: async () => {} };
  const housekeeper = new Housekeeper({ engine, storage, packages, retentionDays: 30 });
  await housekeeper.round(Date.now() + 2 * dayMs);
  for (const table of ["objects", "uploads"]) {
    expect(await engine.read(() => all(`SELECT * FROM ${table}`)), table).toEqual([]);
  }
  await engine.close();
}
