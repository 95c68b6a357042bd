/** The schemas of a deployment's targets. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { ProjectDefinition } from "../../../project/definition.ts";
import type { Deployment } from "../../../proto/svc/v1/deployment_pb.ts";
import type { ModuleCheck } from "../../executions/pool/contract.ts";
import { parseStored } from "../../store/tables/json.ts";
import type { SchemaRow } from "../../store/tables/schemas.ts";

/** The schemas of one deployment, in UTF-16 units. Further ones are stored as `{}`, so that rows and messages stay small. */
const maxTotalLength = 1024 * 1024;

/** The rows of the targets that declare schemas. */
export function schemaRows(definition: ProjectDefinition, checks: readonly ModuleCheck[]): SchemaRow[] {
  let total = 0;
  const bounded = (text: string | null): string | null => {
    total += text?.length ?? 0;
    return text === null || total <= maxTotalLength ? text : "{}";
  };
  return [...definition.agents, ...definition.workflows].flatMap(({ name, module }) => {
    const schemas = checks.find((check) => check.module === module)?.schemas;
    return schemas === undefined
      ? []
      : [{ name, input: bounded(schemas.input), output: bounded(schemas.output) }];
  });
}

/** Adds the schemas to a message. */
export function addSchemas(message: Deployment, rows: readonly SchemaRow[]): void {
  const byName = new Map(rows.map((row) => [row.name, row]));
  for (const target of [...message.agents, ...message.workflows]) {
    const { input = null, output = null } = byName.get(target.name) ?? {};
    if (input !== null) target.inputSchema = parseStored<JsonObject>(input);
    if (output !== null) target.outputSchema = parseStored<JsonObject>(output);
  }
}
