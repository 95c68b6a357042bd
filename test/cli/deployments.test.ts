import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { commandRuntimes } from "../support/runtimes.ts";
import { projectFolder, temporaryFolder, useService, writeFiles } from "./support.ts";

interface Deployment {
  deployment_id: string;
  digest: string;
  size_bytes: string;
  status: string;
}

describe.each(commandRuntimes("bun"))("svc deployments on %s", (runtime) => {
  const service = useService(runtime);

  /** Pushes two versions of a project. */
  const twice = async (name: string): Promise<{ before: Deployment; now: Deployment; cwd: string }> => {
    const cwd = await projectFolder(name, { [`agents/${name}.js`]: "export default () => 1;\n" });
    const before = await service.json<Deployment>("push --force", { cwd });
    await writeFile(join(cwd, `agents/${name}.js`), "export default () => 2;\n");
    return { before, now: await service.json<Deployment>("push --force", { cwd }), cwd };
  };
  const show = (id: string): Promise<Deployment> => service.json(`deployments show ${id}`);

  test("list and show", async () => {
    const { before, now } = await twice("shown");
    const list = await service.run("deployments --project shown");
    expect(list.stdout).toMatch(
      new RegExp(
        `^ID +STATUS .*\n${now.deployment_id}  active +shown .*\n${before.deployment_id}  superseded +shown .*\n$`,
      ),
    );
    expect(await service.json("deployments --status superseded --project shown")).toMatchObject({
      deployments: [{ deployment_id: before.deployment_id }],
    });
    const shown = await service.run(`deployments show ${now.deployment_id} --verbose`);
    expect(shown.stdout).toMatch(/^deployment +dep_\w+\nstatus +active\nproject +shown 1\.0\n/);
    expect(shown.stdout).toMatch(/Webhooks\n {2}shown\/hook {2}http\S+\n +order\.items\[0\]\.sku → sku\n/);
    expect(shown.stdout).toMatch(/Events\n(.|\n)*Files\n +24 B {2}agents\/shown\.js\n/);
    expect(shown.stdout).toContain(`sha256:${now.digest}`);
  });

  test("rollback prints the changes, requires confirmation and activates the earlier deployment", async () => {
    const { before, now } = await twice("rolled");
    const unasked = await service.run(`deployments rollback ${before.deployment_id}`);
    expect(unasked.stderr).toMatch(
      /Roll back rolled in production: dep_\w+ \(\d+ s ago\) → dep_\w+ \(\d+ s ago\)\n(.|\n)*~ agent {5}rolled\n +code\n(.|\n)*--yes/,
    );
    expect(unasked).toMatchObject({ code: 2, stdout: "" });
    expect((await show(now.deployment_id)).status).toBe("active");

    const rolled = await service.run(`deployments rollback ${before.deployment_id} --force`);
    expect(rolled.stdout).toContain(`deployment ID  ${before.deployment_id}\n`);
    expect(rolled.code).toBe(0);
    expect((await service.run("run rolled")).stdout).toBe("1\n");
    expect((await show(now.deployment_id)).status).toBe("superseded");
    const again = await service.run(`deployments rollback ${before.deployment_id} --force`);
    expect(again.stderr).toMatch(/^error: dep_\w+ is already active\./);
    expect(again.code).toBe(1);
  });

  test("rollback in the folder of an invalid project does not guess another project", async () => {
    const cwd = await projectFolder("broken", { "agents/broken.js": "export default () => 1;\n" });
    await writeFiles(cwd, { "svc-project.yaml": 'name: broken\nversion: "1.0"\ntimout: 3\n' });
    const { code, stderr } = await service.run("deployments rollback --yes", { cwd });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/timout.*--project/s)]);
  });

  test("rollback without an id activates the previously active deployment of the project in this folder", async () => {
    const { before, now, cwd } = await twice("undone");
    const folder = join(cwd, "agents");
    const rolled = await service.run("deployments rollback -y", { cwd: folder });
    expect(rolled.stdout).toContain(`deployment ID  ${before.deployment_id}\n`);
    await service.run("deployment rollback --project undone --yes");
    expect((await show(now.deployment_id)).status).toBe("active");

    const conflicting = await service.run(`deployments rollback ${before.deployment_id} --project undone`);
    expect(conflicting).toMatchObject({ code: 2, stderr: expect.stringContaining("determines both") });
    const unknown = await service.run("deployments rollback --project none --yes");
    expect(unknown.stderr).toMatch(/^error: Project none has no active deployment in production\./);
    await service.run("push single --force", { cwd });
    const first = await service.run("deployments rollback --project undone -e single --yes");
    expect(first.stderr).toMatch(/^error: Project undone has no earlier deployment in single\./);
    await twice("other");
    const ambiguous = await service.run("deployments rollback --yes");
    expect(ambiguous.stderr).toMatch(/^error: Several projects are active in production: .*other.*undone/);
    expect(ambiguous.code).toBe(2);
  });

  test("delete warns about an active deployment, requires confirmation and deletes", async () => {
    const { before, now } = await twice("gone");
    const unasked = await service.run(`deployments delete ${now.deployment_id}`);
    expect(unasked.stderr).toMatch(
      /^warning: This deployment is active\. Deleting it stops 1 agent, 0 workflows, 1 webhook, 0 schedules/,
    );
    expect(unasked).toMatchObject({ code: 2, stdout: "" });
    for (const { deployment_id } of [before, now]) {
      const deleted = await service.run(`deployments delete ${deployment_id} --force`);
      expect(deleted).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringContaining(`Deleted ${deployment_id}`),
      });
      expect((await show(deployment_id)).status).toBe("deleted");
    }
    expect((await service.run("run gone")).code).toBe(1);
  });

  test("download writes the pushed package and never overwrites a file", async () => {
    const { now } = await twice("fetched");
    const folder = await temporaryFolder();
    const fetched = await service.run(`deployments download ${now.deployment_id}`, { cwd: folder });
    expect(fetched).toMatchObject({ code: 0, stdout: "" });
    const content = await readFile(join(folder, `${now.deployment_id}.tar.gz`));
    expect(createHash("sha256").update(gunzipSync(content)).digest("hex")).toBe(now.digest);
    expect(String(content.byteLength)).toBe(now.size_bytes);

    const line = `deployments download ${now.deployment_id} --output here.tgz`;
    expect(await service.json(line, { cwd: folder })).toMatchObject({
      path: expect.stringMatching(/here\.tgz$/),
      digest: now.digest,
    });
    const again = await service.run(line, { cwd: folder });
    expect(again.stderr).toMatch(/^error: Cannot write to here\.tgz: it already exists\./);
    expect(again.code).toBe(2);

    await service.run(`deployments download ${now.deployment_id} --extract out`, { cwd: folder });
    expect(await readFile(join(folder, "out/agents/fetched.js"), "utf8")).toBe("export default () => 2;\n");
    const names = [`${now.deployment_id}.tar.gz`, "here.tgz", "out"];
    expect((await readdir(folder)).toSorted()).toEqual(names.toSorted());
  });

  test("download leaves no file when the stored package is corrupt", async () => {
    const { now } = await twice("corrupt");
    const objects = join(service.dataDir, "objects");
    const [organization] = await readdir(objects);
    const object = join(objects, organization ?? "", now.digest);
    const corrupt = await readFile(object);
    corrupt.writeUInt8(corrupt.readUInt8(corrupt.length - 1) ^ 1, corrupt.length - 1);
    await writeFile(object, corrupt);
    const folder = await temporaryFolder();
    await mkdir(join(folder, "empty"));
    for (const where of ["--output package.tgz", "--extract out"]) {
      const { code, stderr } = await service.run(`deployments download ${now.deployment_id} ${where}`, {
        cwd: folder,
      });
      expect(stderr).toMatch(
        /^error: Cannot download the package: the content differs from the pushed package\./,
      );
      expect(code).toBe(1);
    }
    expect(await readdir(folder)).toEqual(["empty"]);
  });
});
