/** The files of `deploy/` against the code. No container engine checks them here. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../server/config.ts";
import { root } from "../support/runtimes.ts";
import { type Container, compose, isServer, kubernetes, readDeploy, serverVariables } from "./files.ts";

const paths = [
  "Dockerfile",
  "compose.yaml",
  "compose.env.example",
  ...["api", "worker", "secret.example"].map((name) => `kubernetes/${name}.yaml`),
];
const instructions = readDeploy("Dockerfile")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => ({ name: line.split(" ")[0] ?? "", rest: line.replace(/^\w+\s+/, "") }));
const values = (name: string): string[] =>
  instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);

test.each(paths)("%s uses only variables that the server reads", (path) => {
  const known = serverVariables();
  const used = readDeploy(path).match(/\bSVC_[A-Z_]+\b/g) ?? [];
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test("the Dockerfile copies paths that exist and that .dockerignore lets through", () => {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  const copied = values("COPY")
    .filter((rest) => !rest.startsWith("--from"))
    .flatMap((rest) => rest.split(" ").slice(0, -1));
  expect(copied.length).toBeGreaterThan(8);
  for (const path of copied) {
    expect(existsSync(join(root, path)), path).toBe(true);
    expect(ignored).toContain(`!${path}`);
  }
  const { include } = JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8"));
  expect(copied).toEqual(expect.arrayContaining(include));
});

test("the stages of the Dockerfile exist, and the last one is the image", () => {
  const stages = values("FROM").map((rest) => rest.split(" AS ")[1]);
  expect(stages).toEqual(["build", "base", "with-deno", "svc"]);
  for (const rest of values("COPY")) {
    const from = /^--from=(\S+)/.exec(rest)?.[1];
    if (from !== undefined && !from.includes("/")) expect(stages).toContain(from);
  }
});

test("the image runs as an unprivileged user behind an init process, with a health check", () => {
  expect(values("USER")).toEqual(["node"]);
  expect(JSON.parse(values("ENTRYPOINT")[0] ?? "")).toEqual([
    "tini",
    "--",
    "node",
    "/opt/svc/cli/launcher.js",
  ]);
  expect(JSON.parse(values("CMD")[0] ?? "")).toEqual(["serve"]);
  expect(values("HEALTHCHECK")[0]).toContain("/readyz");
  expect(values("RUN").join()).toMatch(/apt-get install .*bubblewrap.* tini/);
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(readDeploy("Dockerfile")).toContain(`denoland/deno:bin-${devDependencies.deno} `);
});

test("the services of the compose file refer to what exists", () => {
  const { services, volumes } = compose;
  const used = Object.values(services).flatMap((service) => service.volumes ?? []);
  // Each volume belongs to one service.
  expect(used.map((volume) => volume.split(":")[0]).toSorted()).toEqual(Object.keys(volumes).toSorted());
  const published = Object.values(services).flatMap(({ ports }) => ports ?? []);
  expect(published.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  for (const [name, service] of Object.entries(services)) {
    for (const [dependency, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(services[dependency], `${name} depends on ${dependency}`).toBeDefined();
      if (condition === "service_healthy") expect(services[dependency]?.healthcheck).toBeDefined();
    }
    if (service.build === undefined) continue;
    const context = join(root, "deploy", service.build.context);
    expect(existsSync(join(context, service.build.dockerfile))).toBe(true);
  }
});

test("the compose file starts two api processes and two workers with little privilege", () => {
  const servers = Object.entries(compose.services).filter(([, service]) => isServer(service));
  expect(servers.map(([name, { environment }]) => [name, environment.SVC_ROLE])).toEqual([
    ["api-1", "api"],
    ["api-2", "api"],
    ["worker-1", "worker"],
    ["worker-2", "worker"],
  ]);
  for (const [, service] of servers) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], stop_grace_period: "35s" });
  }
});

test("the example of the compose file's secrets has all variables and no values of secrets", () => {
  const names = new Set(
    [...readDeploy("compose.yaml").matchAll(/(?<!\$)\$\{(\w+)(?::\?)?\}/g)].map((match) => match[1]),
  );
  const example = readDeploy("compose.env.example").match(/^\w+=.*/gm) ?? [];
  expect(example.map((line) => line.split("=")[0]).toSorted()).toEqual([...names].toSorted());
  expect(example.filter((line) => !line.endsWith("="))).toEqual(["SVC_PUBLIC_URL=http://localhost:7070"]);
});

const ofKind = (kind: string) => kubernetes.filter((object) => object.kind === kind);
const deployments = ofKind("Deployment").map((object) => {
  const template = object.spec?.template;
  const container = template?.spec.containers[0];
  if (template === undefined || container === undefined) throw new Error(`${object.metadata.name} is empty.`);
  return { name: object.metadata.name, object, template, container };
});

test("the Kubernetes example has the expected objects", () => {
  expect(
    kubernetes.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`),
  ).toEqual([
    "apps/v1 Deployment svc-api",
    "policy/v1 PodDisruptionBudget svc-api",
    "v1 Service svc",
    "apps/v1 Deployment svc-worker",
    "policy/v1 PodDisruptionBudget svc-worker",
    "v1 Secret svc",
  ]);
});

test("selectors match the labels of the pods", () => {
  for (const { name, object, template } of deployments) {
    expect(template.metadata.labels).toEqual(object.spec?.selector.matchLabels);
    const budget = ofKind("PodDisruptionBudget").find(({ metadata }) => metadata.name === name);
    expect(budget?.spec?.selector.matchLabels).toEqual(template.metadata.labels);
  }
  const [service] = ofKind("Service");
  const api = deployments.find(({ name }) => name === "svc-api");
  expect(service?.spec?.selector).toEqual(api?.template.metadata.labels);
  expect(service?.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual([api?.container.ports[0]?.name]);
});

test("each pod runs its role unprivileged, with the probes of the server", () => {
  const [secret] = ofKind("Secret");
  for (const { name, template, container } of deployments) {
    expect(container.args).toEqual(["serve", "--role", name.replace("svc-", "")]);
    expect(container.envFrom).toEqual([{ secretRef: { name: secret?.metadata.name } }]);
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, fsGroup: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    // 30 s of the server and the pause before its end.
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(35);
    expect(probes(container)).toEqual(["/livez http", "/livez http", "/readyz http"]);
    expect(container.resources.limits.memory).toBeDefined();
    const mounted = container.volumeMounts.map((mount) => mount.name);
    expect(mounted).toEqual(template.spec.volumes.map((volume) => volume.name));
  }
});

test("the variables of the Kubernetes example are accepted", () => {
  for (const { container } of deployments) {
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    const given = ofKind("Secret")[0]?.stringData ?? {};
    const credentials = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    const config = loadConfig({ role: container.args[2] }, { ...given, ...env, ...credentials });
    expect(config.database?.connections).toBe(9);
    expect(config.storage?.bucket).toBe("packages");
  }
});

function probes({ startupProbe, livenessProbe, readinessProbe }: Container): string[] {
  return [startupProbe, livenessProbe, readinessProbe].map(
    ({ httpGet }) => `${httpGet.path} ${httpGet.port}`,
  );
}
