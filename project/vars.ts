/** Variables of a project: configuration that is not secret, which code reads as `ctx.vars`. */
import type { ProjectDefinition, Vars } from "./definition.ts";

/** The variables of an environment: its own ones, and those of the project for other names. */
export function varsOf({ vars, environments }: ProjectDefinition, environment: string): Vars {
  const own =
    environments !== undefined && Object.hasOwn(environments, environment)
      ? environments[environment]?.vars
      : undefined;
  return { ...vars, ...own };
}
