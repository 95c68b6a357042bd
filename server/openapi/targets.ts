/** Adds agents and workflows to the document: the requests that run them, with the schemas of their inputs and outputs. */
import { defaultEnvironment } from "../services/request.ts";
import { embed, isSchema } from "./embed.ts";
import type { Schema } from "./types.ts";

/** The agents and workflows of one environment, as JSON of the contract. */
export interface Targets {
  environment: string;
  targets: readonly Schema[];
}

const schemasPath = "#/components/schemas";

/**
 * Returns the document with the components `<kind>.<name>.run`, `.input` and `.output` of each target. Its only server is
 * that of the environment: generated clients take the first server, and must not run targets of staging in production.
 */
export function describeTargets(document: Schema, { environment, targets }: Targets): Schema {
  const copy = structuredClone(document) as Document;
  copy.servers = serversOf(copy.servers, environment);
  if (targets.length === 0) {
    copy.info.description += `\n\nThe environment \`${environment}\` has no active deployment.`;
    return copy;
  }
  const { schemas } = copy.components;
  const request = schemas.RunExecutionRequest ?? {};
  const variants: Schema[] = [];
  for (const { kind, name, description, input_schema: input, output_schema: output } of targets) {
    const prefix = `${kind}.${name}`;
    if (isSchema(input)) Object.assign(schemas, embed(input, `${prefix}.input`));
    if (isSchema(output)) Object.assign(schemas, embed(output, `${prefix}.output`));
    const properties = request.properties as Record<string, Schema>;
    // Without an input, the target gets `{}`.
    const isRequired = isSchema(input) && (input.$ref !== undefined || hasItems(input.required));
    schemas[`${prefix}.run`] = {
      ...request,
      description: `Runs the ${kind} ${name}. ${description}`.trim(),
      properties: {
        ...properties,
        name: { ...properties.name, const: name },
        kind: { ...properties.kind, enum: [kind] },
        environment: { ...properties.environment, const: environment },
        ...(isSchema(input) && { input: { $ref: `${schemasPath}/${prefix}.input` } }),
      },
      required: isRequired ? ["name", "input"] : ["name"],
    };
    variants.push({ $ref: `${schemasPath}/${prefix}.run` });
  }
  const operation = copy.paths["/api/v1/executions"]?.post as { requestBody: Schema };
  operation.requestBody = {
    required: true,
    content: { "application/json": { schema: { anyOf: variants } } },
  };
  return copy;
}

/** The server of production has no prefix. */
function serversOf([production, prefixed]: readonly Server[], environment: string): Server[] {
  const server = environment === defaultEnvironment ? production : prefixed;
  const description = `The environment \`${environment}\`.`;
  return server === undefined ? [] : [{ url: server.url.replace("{environment}", environment), description }];
}

interface Server {
  url: string;
  description: string;
}

interface Document extends Schema {
  info: { description: string };
  servers: readonly Server[];
  paths: Record<string, Schema>;
  components: { schemas: Record<string, Schema> };
}

function hasItems(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}
