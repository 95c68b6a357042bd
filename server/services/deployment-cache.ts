/** What never changes of a deployment, in memory: its definition and where its package is. */
import type { ProjectDefinition } from "../../project/definition.ts";
import type { ObjectKey } from "../storage/contract.ts";
import { type DeploymentRow, findDeployment, getDeployment } from "../store/deployments.ts";
import type { Engine } from "../store/engine.ts";
import { parseStored } from "../store/json.ts";

interface Entry extends ObjectKey {
  environment: string;
  definition: ProjectDefinition;
}

/** The longest unused goes first. */
const maxEntries = 2_000;

export class DeploymentCache {
  readonly #engine: Engine;
  readonly #entries = new Map<string, Entry>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @throws Error when there is no such deployment. */
  async definition(orgId: string, deploymentId: string): Promise<ProjectDefinition> {
    return (await this.#entry(orgId, deploymentId)).definition;
  }

  /**
   * For the pools, which know a deployment by its id alone.
   * @throws Error when there is no such deployment.
   */
  async location(deploymentId: string): Promise<ObjectKey> {
    const held = this.#entries.get(deploymentId);
    return held ?? this.#load(await this.#engine.read(() => findDeployment(deploymentId)), deploymentId);
  }

  /** What is in memory of a deployment; that of every running execution is. */
  held(deploymentId: string): Entry | undefined {
    return this.#entries.get(deploymentId);
  }

  async #entry(orgId: string, deploymentId: string): Promise<Entry> {
    const held = this.#entries.get(deploymentId);
    if (held !== undefined && held.orgId === orgId) return held;
    return this.#load(await this.#engine.read(() => getDeployment(orgId, deploymentId)), deploymentId);
  }

  #load(row: DeploymentRow | undefined, deploymentId: string): Entry {
    if (row === undefined) throw new Error(`There is no deployment ${deploymentId}.`);
    const entry: Entry = {
      orgId: row.org_id,
      digest: row.digest,
      environment: row.environment,
      definition: parseStored<ProjectDefinition>(row.definition),
    };
    this.#entries.set(deploymentId, entry);
    if (this.#entries.size > maxEntries) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    return entry;
  }
}
