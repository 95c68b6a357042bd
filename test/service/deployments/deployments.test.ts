import { createHash, randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { loadSigningKey, signPath } from "../../../server/storage/signing.ts";
import { deploy, type ProjectSource, packProject, tryDeploy, upload } from "../../support/project.ts";
import { exchange, head } from "../../support/raw.ts";
import { call, ended, expectError, ok, open, reasonOf, run, runToEnd } from "../../support/rest.ts";
import { onS3 } from "../../support/server.ts";
import type {
  DeploymentJson,
  DeploymentPage,
  ErrorJson,
  UploadJson,
  WebhookListJson,
} from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

/** A project with an agent that returns the version. */
const versioned = (version: string, project = "versioned"): ProjectSource => ({
  name: project,
  version,
  agents: {
    [`${project}-teller`]: {
      code: `export default () => ${JSON.stringify(version)};`,
      webhooks: [{ slug: "tell" }, { slug: `${project}-${version.replaceAll(".", "-")}` }],
    },
  },
  schedules: { agents: { [`${project}-teller`]: { cron: "0 9 * * 1-5", timezone: "Europe/Berlin" } } },
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

onRuntime("node", "deployments", {}, (server) => {
  const begin = (digest: string, size_bytes: number) =>
    ok<UploadJson>(server, "POST", "/api/v1/uploads", { json: { digest, size_bytes } });
  const put = (url: string, body: Uint8Array<ArrayBuffer>) => call(server, "PUT", url, { key: null, body });
  const get = (id: string, query = "") =>
    ok<DeploymentJson>(server, "GET", `/api/v1/deployments/${id}${query}`);
  const page = (query = "") => ok<DeploymentPage>(server, "GET", `/api/v1/deployments?${query}`);
  const post = <T = DeploymentJson>(id: string, verb: string) =>
    call<T>(server, "POST", `/api/v1/deployments/${id}/${verb}`, { json: {} });
  const remove = (id: string, query = "") =>
    call<DeploymentJson>(server, "DELETE", `/api/v1/deployments/${id}${query}`);

  // Uploads that the server receives. test/storage/service.test.ts is about those to S3.
  describe.skipIf(onS3)("uploads", () => {
    /** A gzip file of random content, with its digest. */
    const sample = (sizeBytes: number) => {
      const content = randomBytes(sizeBytes);
      return { bytes: new Uint8Array(gzipSync(content, { level: 0 })), digest: sha256(content) };
    };
    const { bytes, digest } = sample(3000);

    test("accepts one upload to the URL without a key, and stores the package", async () => {
      const { url, upload_id, expires_at, already_stored } = await begin(digest, bytes.length);
      expect(already_stored).toBe(false);
      expect(upload_id).toMatch(/^upl_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(new URL(url).origin).toBe(server.url);
      const lifeMs = Date.parse(expires_at) - Date.now();
      expect(lifeMs).toBeGreaterThan(3_500_000);
      expect(lifeMs).toBeLessThanOrEqual(3_600_000);
      expect((await put(url, bytes)).json).toEqual({ digest, size_bytes: bytes.length });
      expectError(await put(url, bytes), 409, "failed_precondition", /complete or does not exist/);
      expect(await begin(digest, bytes.length)).toMatchObject({ already_stored: true, url: "" });
    });

    test("rejects a package of another size or digest than announced, and does not store it", async () => {
      const other = sample(3000);
      const size = other.bytes.length;
      const { url } = await begin(other.digest, size);
      const announced = new RegExp(`must have ${size} bytes`);
      expectError(
        await put(url, bytes),
        400,
        "invalid_argument",
        /must have digest .* as announced; it has /,
      );
      expectError(await put(url, other.bytes.slice(1)), 400, "invalid_argument", announced);
      expectError(await put(url, new Uint8Array([...other.bytes, 0])), 400, "invalid_argument", announced);
      const stream = (...parts: Uint8Array<ArrayBuffer>[]) =>
        call(server, "PUT", url, { key: null, body: new Blob(parts).stream() });
      expectError(await stream(other.bytes, other.bytes), 400, "invalid_argument", announced);
      expectError(await stream(other.bytes.slice(5)), 400, "invalid_argument", announced);
      const noise = new Uint8Array(randomBytes(size));
      expectError(await put(url, noise), 400, "invalid_argument", /not a gzip archive/);
      expect((await begin(other.digest, size)).already_stored).toBe(false);
      expectError(
        await call(server, "POST", "/api/v1/deployments", { json: { digest: other.digest } }),
        400,
        "failed_precondition",
        /the package is not stored/,
      );
      expect((await put(url, other.bytes)).status).toBe(200);
    });

    test("rejects the digest of the compressed bytes", async () => {
      const other = sample(100);
      const { url } = await begin(sha256(other.bytes), other.bytes.length);
      const message = /The digest is the SHA-256 of the uncompressed tar archive/;
      expectError(await put(url, other.bytes), 400, "invalid_argument", message);
    });

    test("identifies a package by its content, however it is compressed", async () => {
      const content = Buffer.alloc(3000, "content");
      const [fast, best] = [1, 9].map((level) => new Uint8Array(gzipSync(content, { level })));
      if (fast === undefined || best === undefined) throw new Error("nothing was compressed");
      const { url } = await begin(sha256(content), best.length);
      expect((await put(url, best)).status).toBe(200);
      expect(await begin(sha256(content), fast.length)).toMatchObject({ already_stored: true, url: "" });
    });

    test("rejects a package that exceeds the unpacked limit", async () => {
      const bomb = new Uint8Array(gzipSync(Buffer.alloc(251 * 2 ** 20), { level: 1 }));
      const { url } = await begin("0".repeat(64), bomb.length);
      expectError(await put(url, bomb), 400, "invalid_argument", /more than 262144000 bytes unpacked/);
    });

    test("rejects a URL that was changed or is for another method", async () => {
      const other = sample(100);
      const { url } = await begin(other.digest, other.bytes.length);
      const changed = (change: (url: URL) => void) => {
        const copy = new URL(url);
        change(copy);
        return copy.href;
      };
      const forged = [
        changed(({ searchParams }) => searchParams.delete("signature")),
        changed(({ searchParams }) => searchParams.set("signature", "A".repeat(43))),
        changed(({ searchParams }) => searchParams.set("expires", String(Date.now() + 10 ** 9))),
        changed(({ searchParams }) => searchParams.set("expires", "1")),
        changed(({ searchParams }) => searchParams.set("name", `upl_${"0".repeat(26)}`)),
        changed((copy) => {
          copy.pathname = copy.pathname.replace(/[0-9a-f]{64}$/, digest);
        }),
        changed((copy) => {
          copy.pathname = copy.pathname.replace(/org_./, (start) => (start === "org_z" ? "org_y" : "org_z"));
        }),
      ];
      for (const forgedUrl of forged) {
        expectError(
          await put(forgedUrl, other.bytes),
          403,
          "permission_denied",
          /This service has not signed the URL/,
        );
      }
      const [outside] = await exchange(server, head("PUT /storage/../../../etc/passwd?signature=x"));
      expect(outside?.status).toBe(403);
      expectError(await call(server, "GET", url, { key: null }), 403, "permission_denied", /signed/);
      expectError(await call(server, "DELETE", url, { key: null }), 403, "permission_denied", /signed/);
      expect((await put(url, other.bytes)).status).toBe(200);
    });

    test("rejects a URL after it expires", async () => {
      const other = sample(100);
      const { url } = await begin(other.digest, other.bytes.length);
      const { pathname: path, searchParams } = new URL(url);
      const name = searchParams.get("name") ?? "";
      const key = loadSigningKey(server.dataDir);
      const until = (expiresAtMs: number) =>
        `${server.url}${path}?${signPath(key, { method: "PUT", path, name, expiresAtMs })}`;
      expectError(await put(until(Date.now() - 1), other.bytes), 403, "permission_denied", /has expired/);
      expect((await put(until(Date.now() + 10_000), other.bytes)).status).toBe(200);
    });

    test("rejects an invalid digest or size", async () => {
      const tries: [json: object, status: number, code: string][] = [
        [{ digest: digest.toUpperCase(), size_bytes: 1 }, 400, "invalid_argument"],
        [{ digest: "", size_bytes: 1 }, 400, "invalid_argument"],
        [{ digest: `../${digest}`, size_bytes: 1 }, 400, "invalid_argument"],
        [{ digest, size_bytes: 0 }, 400, "invalid_argument"],
        [{ digest: sha256(new Uint8Array()), size_bytes: 50 * 2 ** 20 + 1 }, 413, "invalid_argument"],
      ];
      for (const [json, status, code] of tries) {
        expectError(await call(server, "POST", "/api/v1/uploads", { json }), status, code, /./);
      }
    });
  });

  describe("an invalid package", () => {
    const refused = async (source: ProjectSource) => {
      const answer = await tryDeploy(server, source);
      expect(answer.status).toBe(400);
      return answer.json as unknown as ErrorJson;
    };

    test("is rejected with every problem of its project file", async () => {
      const error = await refused({ agents: { "a b": "", b: { code: "", timeout: -1 } } });
      const { message } = error;
      expect(reasonOf(error)).toBe("PROJECT_INVALID");
      const violations = violationsOf(error);
      expect(violations.length).toBe(message.match(/^svc-project\.yaml:\d+:\d+: /gm)?.length);
      for (const { field, description } of violations)
        expect(message).toContain(`\n${field}: ${description}`);
      expect(message).toMatch(/^Invalid configuration in svc-project\.yaml\nsvc-project\.yaml:6:\d+: /);
      expect(message.match(/svc-project\.yaml:\d+:\d+: /g)?.length).toBeGreaterThanOrEqual(2);
    });

    test("is rejected with the modules that cannot be loaded, and the reasons", async () => {
      const error = await refused({
        name: "broken",
        agents: {
          syntax: "export default ( => 1;",
          throws: "throw new Error('at the top');",
          nothing: "export const other = 1;",
          fine: "export default () => 1;",
        },
      });
      const { message } = error;
      expect(reasonOf(error)).toBe("MODULES_INVALID");
      const fields = violationsOf(error).map(({ field }) => field.replace(/:\d+$/, ""));
      expect(fields.toSorted()).toEqual(["agents/nothing.ts", "agents/syntax.ts", "agents/throws.ts"]);
      expect(message).toContain("agents/syntax.ts");
      expect(message).toMatch(/agents\/throws\.ts.*at the top/);
      expect(message).toMatch(/agents\/nothing\.ts.*default/);
      expect(message).not.toContain("agents/fine.ts");
      expect(message).not.toContain(server.dataDir);
      const { deployments } = await page("project=broken");
      expect(deployments).toMatchObject([{ status: "failed", error: message }]);
    });

    test("is rejected when it is not a tar archive", async () => {
      const content = randomBytes(2000);
      const digest = sha256(content);
      await upload(server, { bytes: new Uint8Array(gzipSync(content)), digest });
      const answer = await call(server, "POST", "/api/v1/deployments", { json: { digest } });
      expectError(answer, 400, "invalid_argument", /not an archive that svc accepts/);
    });

    test("leaves the active deployment unchanged", async () => {
      const good = await deploy(server, versioned("1.0.0", "kept"));
      const answer = await tryDeploy(server, { ...versioned("2.0.0", "kept"), agents: { a: "throw 1;" } });
      expect(answer.status).toBe(400);
      expect((await get(good.deployment_id)).status).toBe("active");
      expect((await runToEnd(server, "kept-teller")).output).toBe("1.0.0");
    });
  });

  describe("the versions of a project", () => {
    let first: DeploymentJson;
    let second: DeploymentJson;
    let org = "";
    const webhook = async (slug: string) =>
      call(server, "POST", `/webhook/${org}/agent/versioned-teller/${slug}`, {
        key: null,
        json: {},
        headers: { prefer: "wait=20" },
      });
    const tell = async () => ((await webhook("tell")).json as unknown as { output: unknown }).output;

    beforeAll(async () => {
      ({ org_id: org } = (await ok<WebhookListJson>(server, "GET", "/api/v1/webhooks/list")).organization);
      first = await deploy(server, versioned("1.0.0"));
    });

    test("records the content, author and time of a push", async () => {
      const record = await get(first.deployment_id, "?include_files=true");
      const packed = await packProject(versioned("1.0.0"));
      expect(record).toMatchObject({
        deployment_id: expect.stringMatching(/^dep_[0-9a-hjkmnp-tv-z]{26}$/),
        project: "versioned",
        version: "1.0.0",
        environment: "production",
        status: "active",
        digest: packed.digest,
        size_bytes: String(packed.bytes.length),
        file_count: 2,
        agents: [
          { name: "versioned-teller", display_name: "versioned-teller", timeout: "300s", max_retries: 0 },
        ],
        workflows: [],
        webhooks: [
          { kind: "agent", name: "versioned-teller", slug: "tell", field_mapping: {} },
          { kind: "agent", name: "versioned-teller", slug: "versioned-1-0-0" },
        ],
        schedules: [{ kind: "agent", cron: "0 9 * * 1-5", timezone: "Europe/Berlin", enabled: true }],
        created_by: { key_id: expect.stringMatching(/^key_/), name: "first key" },
        error: "",
        unchanged: false,
      });
      expect(record.files.map(({ path }) => path)).toEqual([
        "agents/versioned-teller.ts",
        "svc-project.yaml",
      ]);
      expect(record.files[0]?.digest).toBe(sha256(Buffer.from('export default () => "1.0.0";')));
      expect(record.events.map(({ event }) => event)).toEqual(["created", "activated"]);
      expect(record.events[1]?.by).toEqual(record.created_by);
      expect(Date.parse(record.activated_at ?? "")).toBeGreaterThanOrEqual(Date.parse(record.created_at));
      expect((await get(first.deployment_id)).files).toEqual([]);
    });

    test("does not deploy the active package again, except with redeploy", async () => {
      const again = await deploy(server, versioned("1.0.0"));
      expect(again).toMatchObject({ deployment_id: first.deployment_id, unchanged: true });
      const redeployed = await deploy(server, versioned("1.0.0"), { redeploy: true });
      expect(redeployed).toMatchObject({ unchanged: false, status: "active" });
      expect(redeployed.deployment_id > first.deployment_id).toBe(true);
      expect((await get(first.deployment_id)).status).toBe("superseded");
      first = redeployed;
    });

    test("switches code, webhooks and schedules to the next version at once", async () => {
      expect(await tell()).toBe("1.0.0");
      second = await deploy(server, versioned("1.1.0"));
      expect(await tell()).toBe("1.1.0");
      expect((await webhook("versioned-1-1-0")).status).toBe(200);
      expect((await webhook("versioned-1-0-0")).status).toBe(404);
      expect(await get(first.deployment_id)).toMatchObject({ status: "superseded", webhooks: [{}, {}] });
    });

    test("restores all of them by a rollback, which can be repeated", async () => {
      for (let times = 0; times < 2; times++) {
        const { status, json } = await post(first.deployment_id, "rollback");
        expect([status, json.status]).toEqual([200, "active"]);
      }
      expect((await get(second.deployment_id)).status).toBe("superseded");
      expect(await tell()).toBe("1.0.0");
      expect((await webhook("versioned-1-0-0")).status).toBe(200);
      expect((await webhook("versioned-1-1-0")).status).toBe(404);
      const events = (await get(first.deployment_id)).events.map(({ event }) => event);
      expect(events).toEqual(["created", "activated", "superseded", "activated"]);
    });

    test("redirects a download to the uploaded bytes", async () => {
      const answer = await call(server, "GET", `/api/v1/deployments/${first.deployment_id}/download`);
      expect(answer.status).toBe(307);
      const location = answer.headers.get("location") ?? "";
      const response = await open(server, "GET", location, { key: null });
      const bytes = new Uint8Array(await response.arrayBuffer());
      expect(sha256(gunzipSync(bytes))).toBe(first.digest);
      expect(response.headers.get("content-length")).toBe(String(first.size_bytes));
      expect(response.headers.get("content-disposition")).toContain(`${first.deployment_id}.tar.gz`);
      // S3 answers for itself.
      if (onS3) return;
      const putThere = await call(server, "PUT", location, { key: null, body: bytes });
      expectError(putThere, 403, "permission_denied", /signed/);
    });

    test("returns lines of a file of the package, and of no other file", async () => {
      const source = (path: string, query = "line=1") =>
        call<{ first_line: number; source_lines: string[] }>(
          server,
          "GET",
          `/api/v1/deployments/${first.deployment_id}/source?path=${encodeURIComponent(path)}&${query}`,
        );
      const { files } = await get(first.deployment_id, "?include_files=true");
      const path = files.find((file) => file.path.startsWith("agents/"))?.path ?? "";
      const { json } = await source(path);
      expect(json.first_line).toBe(1);
      expect(json.source_lines.join("\n")).toContain("export default");
      expect((await source(path, "line=9999")).json.source_lines).toEqual([]);
      for (const other of ["../../svc.db", `./${path}`, `/${path}`, "package.json/../../.."]) {
        expectError(await source(other), 404, "not_found", /has no file/);
      }
      expect((await source(path, "line=0")).status).toBe(400);
      expect((await source(path, "line=1&context_lines=51")).status).toBe(400);
    });

    test("deletes the active deployment only with force, and answers 410 on its webhooks", async () => {
      const refusal = await remove(first.deployment_id);
      expectError(refusal, 409, "failed_precondition", /pass force/);
      const deleted = await remove(first.deployment_id, "?force=true");
      expect([deleted.status, deleted.json.status]).toEqual([200, "deleted"]);
      for (const path of ["agent/versioned-teller/tell", "agent/versioned-teller/versioned-1-0-0"]) {
        const gone = await call(server, "POST", `/webhook/${org}/${path}`, { key: null, json: {} });
        expectError(gone, 410, "not_found", /was deleted/);
      }
      const bySlug = await call(server, "POST", `/api/v1/webhooks/trigger/${org}/versioned-1-0-0`, {
        json: {},
      });
      expectError(bySlug, 410, "not_found", /was deleted/);
      expect((await call(server, "GET", "/api/v1/schedules/versioned-teller")).status).toBe(404);
      const answer = await call(server, "POST", "/api/v1/executions", { json: { name: "versioned-teller" } });
      expectError(answer, 404, "not_found", /no agent or workflow 'versioned-teller'/);
      expect((await remove(first.deployment_id, "?force=true")).status).toBe(200);
    });

    test("rolls back to a superseded deployment, and refuses to use a deleted one", async () => {
      expectError(
        await post(first.deployment_id, "rollback"),
        409,
        "failed_precondition",
        /only a superseded deployment .* is deleted/,
      );
      const promotion = await call(server, "POST", "/api/v1/deployments", {
        json: { source_deployment_id: first.deployment_id, environment: "staging" },
      });
      expectError(promotion, 409, "failed_precondition", /Cannot promote .*: it was deleted/);
      const download = await call(server, "GET", `/api/v1/deployments/${first.deployment_id}/download`);
      expectError(download, 409, "failed_precondition", /Cannot download .*: it was deleted/);
      expect((await post(second.deployment_id, "rollback")).json.status).toBe("active");
      expect(await tell()).toBe("1.1.0");
    });

    test("deletes a superseded deployment without force", async () => {
      const third = await deploy(server, versioned("1.2.0"));
      expect((await remove(second.deployment_id)).json.status).toBe("deleted");
      expect((await get(third.deployment_id)).status).toBe("active");
      expect(await tell()).toBe("1.2.0");
    });
  });

  test("finishes a running execution on its own deployment", async () => {
    const held = (version: number): ProjectSource => ({
      name: "flight",
      agents: {
        flight: `export default async () => {
  console.log("begun");
  await new Promise((resolve) => setTimeout(resolve, 600));
  return ${version};
};`,
      },
    });
    const before = await deploy(server, held(1));
    const { execution_id } = await run(server, "flight");
    await deploy(server, held(2));
    await remove(before.deployment_id);
    const execution = await ended(server, execution_id);
    expect(execution).toMatchObject({ status: "succeeded", output: 1, deployment_id: before.deployment_id });
    expect((await runToEnd(server, "flight")).output).toBe(2);
  });

  test("rejects a name that another project uses in the environment", async () => {
    await deploy(server, { name: "holder", agents: { wanted: "export default () => 1;" } });
    const other = { name: "other", workflows: { wanted: "export default () => 2;" } };
    const answer = await tryDeploy(server, other);
    expectError(answer, 409, "already_exists", /the agent 'wanted' belongs to project 'holder'/);
    expect((await runToEnd(server, "wanted")).output).toBe(1);
    const { deployments } = await page("project=other");
    expect(deployments).toMatchObject([{ status: "failed" }]);
    expect((await deploy(server, other, { environment: "staging" })).status).toBe("active");
  });

  test("lists deployments with filters, newest first, in pages without gaps or duplicates", async () => {
    const versions = ["1", "2", "3", "4", "5"];
    for (const version of versions) await deploy(server, versioned(version, "paged"));
    await deploy(server, versioned("6", "paged"), { environment: "staging" });
    const all = (await page("project=paged")).deployments;
    expect(all.map(({ version }) => version)).toEqual(["6", "5", "4", "3", "2", "1"]);
    const seen: string[] = [];
    for (let token = ""; ; ) {
      const one = await page(`project=paged&page_size=2&page_token=${token}`);
      expect(one.deployments.length).toBe(2);
      seen.push(...one.deployments.map(({ version }) => version));
      if (one.next_page_token === "") break;
      token = one.next_page_token;
    }
    expect(seen).toEqual(["6", "5", "4", "3", "2", "1"]);
    const versionsOf = async (path: string) =>
      (await ok<DeploymentPage>(server, "GET", path)).deployments.map(({ version }) => version);
    expect(await versionsOf("/api/v1/deployments?project=paged&status=active")).toEqual(["6", "5"]);
    expect(await versionsOf("/api/v1/deployments?project=paged&environment=staging")).toEqual(["6"]);
    expect(await versionsOf("/env/staging/api/v1/deployments?project=paged")).toEqual(["6"]);
    expect((await page("project=nothing")).deployments).toEqual([]);
  });

  test("resolves an id under every base URL of its organization", async () => {
    const [newest] = (await page("page_size=1")).deployments;
    const path = `/api/v1/deployments/${newest?.deployment_id}`;
    const plain = await ok<DeploymentJson>(server, "GET", path);
    expect(await ok(server, "GET", `/env/elsewhere${path}`)).toEqual(plain);
  });
});

function violationsOf(error: ErrorJson): { field: string; description: string }[] {
  const detail = error.details?.find(({ type }) => type === "google.rpc.BadRequest");
  const { field_violations = [] } = (detail?.debug ?? {}) as {
    field_violations?: { field: string; description: string }[];
  };
  return field_violations;
}
