/** Warnings about the secrets that a deployment's webhooks name. */
import { expect, test } from "vitest";
import { all, notify } from "../../../server/store/engine.ts";
import { deploy } from "../../support/project.ts";
import { ok } from "../../support/rest.ts";
import type { DeploymentJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

onRuntime("deno", "warnings of a deployment", {}, (server) => {
  const signed = (slug: string, secret: string | string[]) => ({
    slug,
    signature: { scheme: "github", secret },
  });
  const set = (name: string) => ok(server, "PUT", `/api/v1/secrets/${name}`, { json: { value: "hush" } });

  test("name each secret of a webhook that is not set or cannot be decrypted", async () => {
    await set("SET");
    const webhooks = [
      signed("one", "MISSING"),
      signed("two", ["SET", "OLD"]),
      signed("good", "SET"),
      { slug: "plain" },
    ];
    const created = await deploy(server, {
      agents: { hooked: { code: "export default () => 1;", webhooks } },
    });
    expect(created).toMatchObject({
      status: "active",
      warnings: [
        "The webhook hooked/one rejects all requests: the secret MISSING is not set.",
        "The webhook hooked/two uses only its other secret: the secret OLD is not set.",
      ],
    });
    await set("MISSING");
    const warnings = async () =>
      (await ok<DeploymentJson>(server, "GET", `/api/v1/deployments/${created.deployment_id}`)).warnings;
    expect(await warnings()).toEqual([expect.stringContaining("the secret OLD is not set")]);
    await set("OLD");
    expect(await warnings()).toEqual([]);

    const engine = await server.openStore();
    await engine.write(function* () {
      const damage = "UPDATE secrets SET sealed = 'v1.00000000.x.x' WHERE name = 'MISSING' RETURNING org_id";
      for (const { org_id } of yield* all<{ org_id: string }>(damage)) yield* notify("secrets", org_id);
    });
    await engine.close();
    await expect
      .poll(warnings)
      .toEqual([
        "The webhook hooked/one rejects all requests: the secret MISSING cannot be decrypted; set it again.",
      ]);
  });
});
