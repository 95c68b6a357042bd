/** The declaration file of a project: the types of its agents, workflows, secrets and variables. */
import type { ProjectDefinition } from "../../project/definition.ts";
import { isName } from "../../project/names.ts";
import { webhookSecrets } from "../local/secrets.ts";

/** The first line, by which the file is recognized. */
export const declarationHeader =
  "// Written by `svc types`, `svc dev` and `svc push`, which overwrite changes.";

/**
 * The content of the file. It depends only on committed files, so that it can be committed too.
 *
 * @param envExample - the content of `.env.example`, which lists the secrets; empty without one
 */
export function declarationOf(definition: ProjectDefinition, envExample: string): string {
  const targets = [...definition.agents, ...definition.workflows].map(
    ({ name, module }) => `  ${keyOf(name)}: ${typesOf(module)};\n`,
  );
  const secrets = [...secretsOf(definition, envExample)].map(
    ([name, isOptional]) => `  readonly ${keyOf(name)}: string${isOptional ? " | undefined" : ""};\n`,
  );
  const variables = [...variablesOf(definition)].map(
    ([name, type]) => `  readonly ${keyOf(name)}: ${type};\n`,
  );
  const parts = [
    `${declarationHeader}\nimport type { TargetTypes } from "svc";\n`,
    `interface ProjectTargets {\n${targets.join("")}}\n`,
    `interface ProjectSecrets {\n${secrets.join("")}}\n`,
    `interface ProjectVariables {\n${variables.join("")}}\n`,
    'declare module "svc" {\n  interface Targets extends ProjectTargets {}\n  interface Secrets extends ProjectSecrets {}\n  interface Variables extends ProjectVariables {}\n}\n',
    'declare module "svc/client" {\n  interface Targets extends ProjectTargets {}\n}\n',
  ];
  return parts.join("\n");
}

/** The secrets that the project names, and whether code must expect that one is missing. */
export function secretsOf(definition: ProjectDefinition, envExample: string): Map<string, boolean> {
  const names = new Map<string, boolean>();
  for (const [, mark = "", variable = ""] of envExample.matchAll(/^[ \t]*(#?)[ \t]*([A-Za-z_]\w*)=/gm)) {
    const name = variable.replace(/^SVC_SECRET_/, "");
    if (isName(name) && !name.startsWith("SVC_")) names.set(name, mark !== "");
  }
  for (const name of webhookSecrets(definition)) names.set(name, false);
  return new Map([...names].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The types of the variables in all environments. A variable that some environments lack may be missing. */
function variablesOf({ vars = {}, environments = {} }: ProjectDefinition): Map<string, string> {
  const own = Object.values(environments).map((environment) => environment.vars);
  const names = new Set([vars, ...own].flatMap((some) => Object.keys(some)));
  return new Map(
    [...names].toSorted().map((name) => {
      const values = [vars, ...own]
        .filter((some) => Object.hasOwn(some, name))
        .map((some) => typeof some[name]);
      const types = [...new Set(values)].toSorted();
      return [name, [...types, ...(Object.hasOwn(vars, name) ? [] : ["undefined"])].join(" | ")];
    }),
  );
}

/** Only TypeScript has types: for other modules the compiler would need the option `allowJs`. */
function typesOf(module: string): string {
  if (!/\.m?ts$/.test(module)) return "{ input: object; output: unknown }";
  return `TargetTypes<typeof import(${JSON.stringify(`./${module}`)})>`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
