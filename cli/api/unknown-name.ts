import { suggest } from "../../project/suggest.ts";
import { CliError } from "../app/errors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";

/** An agent, a workflow or a schedule in an environment. */
export interface Named {
  name: string;
  environment: string;
  /** `agent` or `workflow`; any without it. */
  kind?: string;
}

/**
 * Waits for a request that names a target or a schedule. When the service does not know the name, asks for the known
 * ones, and replaces the advice: the environment where the name exists, the most similar name, or all names.
 */
export async function withSuggestion<Result>(
  request: Promise<Result>,
  wanted: Named,
  known: () => Promise<Named[]>,
): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    // Lazy: the help of a command imports nothing of Connect.
    const { isNotFound } = await import("./error-messages.ts");
    if (!isNotFound(error)) throw error;
    const all = await known().catch(() => null);
    if (all === null) throw error;
    // The service does not know whether a similar name exists, and recommends a deployment.
    const message = error.rawMessage.replace(/ Deploy one with that name first\.$/, "");
    throw new CliError(sanitizeLine(message), adviceFor(wanted, all), { cause: error });
  }
}

function adviceFor({ name, environment, kind = "" }: Named, known: readonly Named[]): string {
  const other = known.find((each) => each.name === name && each.environment === environment);
  if (kind !== "" && other?.kind !== undefined && other.kind !== kind) {
    return `"${name}" is ${other.kind === "agent" ? "an agent" : "a workflow"}: pass --kind ${other.kind}, or leave out --kind.`;
  }
  const all = known.filter((each) => kind === "" || each.kind === undefined || each.kind === kind);
  const here = all.filter((each) => each.environment === environment).map((each) => each.name);
  const near = suggest(name, here);
  if (near !== undefined && near !== name) return `Did you mean "${near}"?`;
  const elsewhere = all.filter((each) => each.name === name && each.environment !== environment);
  if (elsewhere.length > 0) {
    const environments = [...new Set(elsewhere.map((each) => each.environment))];
    return `It exists in ${environments.join(", ")}: pass --environment ${environments[0]}.`;
  }
  if (here.length === 0) return `Nothing of this kind is deployed in ${environment}: run \`svc push\`.`;
  return `Known names in ${environment}: ${here.slice(0, 20).join(", ")}${here.length > 20 ? ", …" : ""}.`;
}
