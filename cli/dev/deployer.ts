/**
 * Deploys a project each time that it changes.
 *
 * States: *idle*; *waiting* for the end of a burst of changes; *deploying*. A change while it deploys starts another
 * deployment after this one, so that the last state of the files is always deployed.
 */

import { BundleCache } from "../../project/bundle/cache.ts";
import type { ProjectDefinition } from "../../project/definition.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Connection } from "../api/connection.ts";
import { CliError } from "../app/errors.ts";
import { deployFiles } from "../local/deploy.ts";
import { loadValidProject } from "../project/load.ts";
import { updateDeclaration } from "../project/write-declaration.ts";

/** Editors and `git checkout` write several files at a time. */
const quietMs = 20;

export interface Deployed {
  deployment: Deployment;
  definition: ProjectDefinition;
  /** From the first change to the active deployment. */
  tookMs: number;
  /** The package is the same as that of the active deployment. */
  isUnchanged: boolean;
}

export interface DeployerOptions {
  root: string;
  connection: Connection;
  environment: string;
  /** The paths of all files for the package, before it is deployed. */
  onFiles(paths: string[]): void;
  onDeployed(deployed: Deployed): Promise<void>;
  onFailed(error: unknown): Promise<void>;
}

export class Deployer {
  readonly #options: DeployerOptions;
  readonly #bundles = new BundleCache();
  #changedAt: number | null = null;
  #forced = false;
  #timer: NodeJS.Timeout | undefined;
  #deploying: Promise<void> | null = null;
  #activeId = "";
  #isClosed = false;

  constructor(options: DeployerOptions) {
    this.#options = options;
  }

  /** Deploys after the changes have ended. */
  changed(): void {
    if (this.#isClosed) return;
    this.#changedAt ??= performance.now();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), quietMs);
  }

  /** Deploys at once. @param redeploy - also when nothing has changed */
  async deploy(redeploy: boolean): Promise<void> {
    this.#changedAt ??= performance.now();
    this.#forced ||= redeploy;
    clearTimeout(this.#timer);
    await this.#run();
  }

  /** Starts no further deployment, and waits for the running one. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#deploying;
  }

  async #run(): Promise<void> {
    if (this.#deploying !== null) return this.#deploying;
    this.#deploying = this.#deployAll();
    try {
      await this.#deploying;
    } finally {
      this.#deploying = null;
    }
  }

  async #deployAll(): Promise<void> {
    while (this.#changedAt !== null && !this.#isClosed) {
      const changedAt = this.#changedAt;
      const redeploy = this.#forced;
      this.#changedAt = null;
      this.#forced = false;
      clearTimeout(this.#timer);
      await this.#deployOnce(changedAt, redeploy);
    }
  }

  async #deployOnce(changedAt: number, redeploy: boolean): Promise<void> {
    const { root, connection, environment } = this.#options;
    if (redeploy) this.#bundles.clear();
    try {
      const { definition, files } = await loadValidProject(root, this.#bundles);
      this.#options.onFiles(files.map(({ path }) => path));
      await updateDeclaration(root, definition);
      const deploy = (): Promise<Deployment> => deployFiles(connection, files, { environment, redeploy });
      const deployment = await deploy().catch(async (error: unknown) => {
        if (!(await this.#removeRenamed(error, definition))) throw error;
        return deploy();
      });
      const isUnchanged = deployment.deploymentId === this.#activeId;
      this.#activeId = deployment.deploymentId;
      const tookMs = performance.now() - changedAt;
      await this.#options.onDeployed({ deployment, definition, tookMs, isUnchanged });
    } catch (error) {
      // A file was removed or grew while it was read. Its change starts the next deployment.
      if (this.#changedAt !== null && !(error instanceof CliError)) return;
      await this.#options.onFailed(error);
    }
  }

  /**
   * After the project was renamed, the deployment of its former name still holds the names of its agents. This store has
   * no other project.
   */
  async #removeRenamed(error: unknown, { name }: ProjectDefinition): Promise<boolean> {
    const { isNameTaken } = await import("../api/error-messages.ts");
    if (!isNameTaken(error)) return false;
    const deployments = await this.#options.connection.client("deployments");
    const { environment } = this.#options;
    const active = await deployments.listDeployments({ status: "active", environment, pageSize: 1000 });
    for (const { deploymentId, project } of active.deployments) {
      if (project !== name) await deployments.deleteDeployment({ deploymentId, force: true });
    }
    return true;
  }
}
