/** Creates small projects from text and deploys them through the API, without the command line. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { collectProject } from "../../project/collect.ts";
import { packFiles } from "../../project/pack.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import { type Answer, type Caller, call, ok } from "./rest.ts";
import { root } from "./runtimes.ts";
import type { DeploymentJson, UploadJson } from "./shapes.ts";

interface TargetSource {
  /** The module. */
  code: string;
  timeout?: number;
  description?: string;
  display_name?: string;
  expose_as_tool?: boolean;
  enable_retry?: boolean;
  retry_policy?: Readonly<Record<string, unknown>>;
  on_failure?: false;
  webhooks?: readonly Readonly<Record<string, unknown>>[];
}

export interface ProjectSource {
  /** npm packages of this checkout that the code imports. They are bundled. */
  dependencies?: readonly string[];
  name?: string;
  version?: string;
  /** By name; a string is the code of a module without settings. */
  agents?: Readonly<Record<string, TargetSource | string>>;
  workflows?: Readonly<Record<string, TargetSource | string>>;
  schedules?: Readonly<Partial<Record<"agents" | "workflows", Readonly<Record<string, unknown>>>>>;
  network?: readonly string[];
  vars?: Readonly<Record<string, unknown>>;
  environments?: Readonly<Record<string, unknown>>;
  on_failure?: unknown;
  /** More files, by path. */
  files?: Readonly<Record<string, string>>;
}

export interface Package {
  bytes: Uint8Array<ArrayBuffer>;
  digest: string;
}

/** Writes the files of a project to a folder. The project file is JSON, a subset of YAML. */
function writeProject(folder: string, source: ProjectSource): void {
  const entries = (folderName: string, targets: ProjectSource["agents"] = {}) =>
    Object.entries(targets).map(([name, target]) => {
      const { code, ...settings } = typeof target === "string" ? { code: target } : target;
      write(join(folder, folderName, `${name}.ts`), code);
      return { name, ...settings };
    });
  const file = {
    name: source.name ?? "test-project",
    version: source.version ?? "1.0.0",
    agents: entries("agents", source.agents),
    workflows: entries("workflows", source.workflows),
    ...(source.schedules === undefined ? {} : { schedules: source.schedules }),
    ...(source.network === undefined ? {} : { network: source.network }),
    ...(source.vars === undefined ? {} : { vars: source.vars }),
    ...(source.environments === undefined ? {} : { environments: source.environments }),
    ...(source.on_failure === undefined ? {} : { on_failure: source.on_failure }),
  };
  write(join(folder, "svc-project.yaml"), JSON.stringify(file, null, 2));
  for (const [path, content] of Object.entries(source.files ?? {})) write(join(folder, path), content);
}

/** Packs the project as `svc push` does. */
export async function packProject(source: ProjectSource): Promise<Package> {
  const folder = mkdtempSync(join(tmpdir(), "svc-project-"));
  try {
    writeProject(folder, source);
    const packed = await packFiles(await filesOf(folder, source));
    const bytes = new Uint8Array(readFileSync(packed.path));
    packed.remove();
    return { bytes, digest: packed.digest };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function filesOf(folder: string, { dependencies = [] }: ProjectSource): Promise<CollectedFile[]> {
  if (dependencies.length === 0) return collectProject(folder);
  const manifest = {
    type: "module",
    dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])),
  };
  write(join(folder, "package.json"), JSON.stringify(manifest));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // It loads esbuild, which few tests need.
  const { prepareProject } = await import("../../project/prepare.ts");
  const { files, problems } = await prepareProject(folder);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return files;
}

/** Uploads a package unless it is stored already. */
export async function upload(caller: Caller, { bytes, digest }: Package): Promise<void> {
  const begun = await ok<UploadJson>(caller, "POST", "/api/v1/uploads", {
    json: { digest, size_bytes: bytes.byteLength },
  });
  const headers = { "content-type": "application/gzip" };
  if (!begun.already_stored) await ok(caller, "PUT", begun.url, { body: bytes, headers, key: null });
}

export interface DeployOptions {
  /** The environment of the base URL. Default: `production`. */
  environment?: string;
  redeploy?: boolean;
}

/** Uploads and registers a package; returns the response, also of a failure. */
export async function tryDeploy(
  caller: Caller,
  source: ProjectSource,
  options: DeployOptions = {},
): Promise<Answer<DeploymentJson>> {
  return tryDeployPackage(caller, await packProject(source), options);
}

async function tryDeployPackage(
  caller: Caller,
  packed: Package,
  { environment, redeploy = false }: DeployOptions,
): Promise<Answer<DeploymentJson>> {
  await upload(caller, packed);
  const base = environment === undefined ? "" : `/env/${environment}`;
  return call(caller, "POST", `${base}/api/v1/deployments`, { json: { digest: packed.digest, redeploy } });
}

/** Uploads and registers a package. @throws Error when the deployment fails */
export async function deploy(
  caller: Caller,
  source: ProjectSource,
  options: DeployOptions = {},
): Promise<DeploymentJson> {
  return deployPackage(caller, await packProject(source), options);
}

/** Uploads and registers a package that may be deployed more than once. @throws Error when the deployment fails */
export async function deployPackage(
  caller: Caller,
  packed: Package,
  options: DeployOptions = {},
): Promise<DeploymentJson> {
  const answer = await tryDeployPackage(caller, packed, options);
  if (answer.status !== 200) throw new Error(`CreateDeployment answered ${answer.status}: ${answer.text}`);
  return answer.json;
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
