/**
 * A full disk: the data folder is a small file system in memory, in a mount namespace of the server. Where user
 * namespaces are not allowed, the test is skipped and says so.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, ended, expectError, ok } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";
import type { AcceptedJson, ExecutionJson, HealthJson } from "../../support/shapes.ts";

const mebibyte = 1024 ** 2;
const rate = "1000000";

function canMount(): boolean {
  const { status } = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", tmpdir()]);
  if (status !== 0) console.log("Skipped: this machine does not allow user and mount namespaces.");
  return status === 0;
}

test.runIf(canMount())(
  "a full disk gives 503 with its reason, loses nothing, and the server recovers when there is space again",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-full-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = `mount -t tmpfs -o size=64m,mode=700 none "${folder}" && exec "$@"`;
    const server = new TestServer("node", {
      within: ["unshare", "-rm", "sh", "-c", script, "sh"],
      dataDir: join(folder, "data"),
      env: {
        SVC_WEBHOOK_RATE: rate,
        SVC_WEBHOOK_BURST: rate,
        SVC_ORGANIZATION_RATE: rate,
        SVC_ORGANIZATION_BURST: rate,
      },
    });
    onTestFinished(() => server.kill("SIGKILL").then(() => {}));
    await server.start();
    const mounted = `/proc/${server.pid}/root${folder}`;
    const agents = {
      echo: { code: "export default (input) => input.n;", webhooks: [{ slug: "in" }] },
    };
    const url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
    // Twice the write-ahead log, which grows to 16 MB, and must fit into the database before SQLite can use its space again.
    const ballast = join(mounted, "ballast");
    writeFileSync(ballast, Buffer.alloc(32 * mebibyte));

    const accepted: { id: string; n: number }[] = [];
    const send = async (n: number, kilobytes: number) => {
      const json = { n, pad: randomBytes(kilobytes * 512).toString("hex") };
      const answer = await call<AcceptedJson>(server, "POST", url, { key: null, json });
      if (answer.status === 202) accepted.push({ id: answer.json.execution_id, n });
      return answer;
    };
    let refused: Awaited<ReturnType<typeof send>> | undefined;
    for (let n = 0; refused === undefined; n += 16) {
      const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => send(n + index, 256)));
      refused = answers.find(({ status }) => status !== 202);
    }
    expectError(refused, 503, "unavailable", /cannot store the request: its disk is full/);
    expect(refused.headers.get("retry-after")).toBe("10");
    expect(server.output.match(/disk of the data folder is full/g)).toHaveLength(1);
    expect(server.output).not.toContain("Request failed");
    expect(statfsSync(mounted).bavail * statfsSync(mounted).bsize).toBeLessThan(mebibyte);
    await vi.waitFor(
      async () => {
        fill(ballast);
        const health = await call<HealthJson>(server, "GET", "/health");
        expect(health.status).toBe(503);
        expect(health.json.checks.storage).toBe("failing: the disk is full");
      },
      { timeout: 30_000, interval: 50 },
    );
    expect((await ok<ExecutionJson>(server, "GET", `/api/v1/executions/${accepted[0]?.id}`)).trigger).toBe(
      "webhook",
    );

    rmSync(ballast);
    await vi.waitFor(async () => expect((await send(-1, 256)).status).toBe(202), {
      timeout: 30_000,
      interval: 50,
    });
    expect(accepted.length).toBeGreaterThan(16);
    for (const { id, n } of accepted)
      expect(await ended(server, id)).toMatchObject({ status: "succeeded", output: n });
    expect((await call(server, "GET", "/health")).status).toBe(200);
  },
);

/** Fills what SQLite left, so that the health check cannot write either. */
function fill(ballast: string): void {
  for (let bytes = mebibyte; bytes >= 512; bytes /= 2) {
    try {
      writeFileSync(ballast, Buffer.alloc(bytes), { flag: "a" });
    } catch {
      // The disk has less space.
    }
  }
}
