/** Caches the immutable fields of deployments: definition, environment and package digest. */
import type { ProjectDefinition } from "../../../project/definition.ts";
import { LruCache } from "../../lru.ts";
import type { ObjectKey } from "../../storage/contract.ts";
import type { Engine } from "../../store/engine.ts";
import { type DeploymentRow, findDeployment, getDeployment } from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";

interface Entry extends ObjectKey {
  environment: string;
  definition: ProjectDefinition;
}

const maxEntries = 2_000;

export class DeploymentCache {
  readonly #engine: Engine;
  readonly #entries = new LruCache<string, Entry>(maxEntries);

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @throws Error when the organization has no such deployment */
  async definition(orgId: string, deploymentId: string): Promise<ProjectDefinition> {
    return (await this.#entry(orgId, deploymentId)).definition;
  }

  /**
   * Finds a deployment in any organization: runner pools know only its id.
   * @throws Error when the deployment does not exist
   */
  async location(deploymentId: string): Promise<ObjectKey> {
    const held = this.#entries.get(deploymentId);
    return held ?? this.#load(await this.#engine.read(() => findDeployment(deploymentId)), deploymentId);
  }

  /** The cached entry, if any. Starting an execution loads the entry of its deployment. */
  held(deploymentId: string): Entry | undefined {
    return this.#entries.get(deploymentId);
  }

  async #entry(orgId: string, deploymentId: string): Promise<Entry> {
    const held = this.#entries.get(deploymentId);
    if (held !== undefined && held.orgId === orgId) return held;
    return this.#load(await this.#engine.read(() => getDeployment(orgId, deploymentId)), deploymentId);
  }

  #load(row: DeploymentRow | undefined, deploymentId: string): Entry {
    if (row === undefined) throw new Error(`Cannot find deployment ${deploymentId}.`);
    const entry: Entry = {
      orgId: row.org_id,
      digest: row.digest,
      environment: row.environment,
      definition: withDefaults(parseStored(row.definition)),
    };
    this.#entries.set(deploymentId, entry);
    return entry;
  }
}

/** Older versions stored definitions without `network`. */
function withDefaults(
  stored: Omit<ProjectDefinition, "network"> & Partial<ProjectDefinition>,
): ProjectDefinition {
  return { ...stored, network: stored.network ?? null };
}
