/** The JSON Schemas of targets that declare schemas. Written with their deployment, and never changed. */
import type { TargetKind } from "../../../project/definition.ts";
import { all, each, type Program } from "../engine.ts";

export interface SchemaRow {
  /** Name of the target. */
  name: string;
  /** JSON text of an object. Null when the target declares no schema, `{}` when JSON Schema cannot express it. */
  input: string | null;
  output: string | null;
}

/** An agent or workflow of an active deployment. */
export interface ActiveTargetRow {
  kind: TargetKind;
  name: string;
  project: string;
  deployment_id: string;
  /** JSON of a TargetDefinition. */
  definition: string;
  /** As in `SchemaRow`. */
  input: string | null;
  output: string | null;
}

const INSERT = `INSERT INTO target_schemas (org_id, deployment_id, name, input, output)
SELECT ?1, ?2, r.name, r.input, r.output FROM ROWS(name text, input text, output text) r`;
const SELECT = "SELECT name, input, output FROM target_schemas WHERE org_id = ?1 AND deployment_id = ?2";
const SELECT_ACTIVE = `SELECT t.kind, t.name, t.project, t.deployment_id, t.definition, s.input, s.output FROM targets t
LEFT JOIN target_schemas s ON s.org_id = t.org_id AND s.deployment_id = t.deployment_id AND s.name = t.name
WHERE t.org_id = ?1 AND t.environment = ?2 ORDER BY t.name`;

export function* insertSchemas(
  orgId: string,
  deploymentId: string,
  schemas: readonly SchemaRow[],
): Program<void> {
  const rows = schemas.map(({ name, input, output }) => [name, input, output]);
  yield* each(INSERT, rows, orgId, deploymentId);
}

/** The schemas of a deployment's targets. Targets without a schema have no row. */
export function* listSchemas(orgId: string, deploymentId: string): Program<SchemaRow[]> {
  return yield* all<SchemaRow>(SELECT, orgId, deploymentId);
}

/** The agents and workflows of an environment with their schemas, by name. */
export function* listActiveTargets(orgId: string, environment: string): Program<ActiveTargetRow[]> {
  return yield* all<ActiveTargetRow>(SELECT_ACTIVE, orgId, environment);
}
