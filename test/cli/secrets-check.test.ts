import { expect, test } from "vitest";
import { projectFolder, useService } from "./support.ts";

const service = useService("node");

test("push and deployments show warn about a missing secret, and doctor fails", async () => {
  const signed = `name: signed
version: "1.0"
agents:
  - name: signed
    webhooks: [{ slug: in, signature: { scheme: github, secret: HOOK } }]
`;
  const cwd = await projectFolder("signed", {
    "svc-project.yaml": signed,
    "agents/signed.js": "export default () => 1;\n",
  });
  const warning = "The webhook signed/in rejects all requests: the secret HOOK is not set.";
  const pushed = await service.run("push --force", { cwd });
  expect(pushed.stderr).toContain(
    `warning: ${warning}\nhint:  Set the secrets with \`svc secrets set <name>\`.\n`,
  );
  expect(pushed.stderr).toMatch(/Next steps:\n {2}svc secrets set HOOK\n {2}svc run signed\n/);
  expect(pushed.code).toBe(0);
  const id = /dep_\w{26}/.exec(pushed.stdout)?.[0];
  expect((await service.run(`deployments show ${id}`)).stdout).toContain(warning);
  const ill = await service.run("doctor", { cwd });
  expect(ill.stdout).toContain(`✖ secrets         ${warning}`);
  expect(ill.code).toBe(1);

  await service.run("secrets set HOOK", { input: "hush" });
  const unchanged = await service.run("push --force", { cwd });
  expect(unchanged.stderr).not.toMatch(/warning:|Next steps:/);
  expect((await service.run("doctor", { cwd })).code).toBe(0);
});
