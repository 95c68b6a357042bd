import type { ProjectDefinition } from "../../project/definition.ts";
import { count } from "../terminal/format.ts";

/** Says that webhooks without a signature obey whoever knows their URL; an empty string when all are signed. */
export function unsignedHint(definition: ProjectDefinition): string {
  const unsigned = [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
    webhooks.filter(({ signature }) => signature === null).map(({ slug }) => `${name}/${slug}`),
  );
  if (unsigned.length === 0) return "";
  const which = unsigned.length > 2 ? count(unsigned.length, "webhook") : unsigned.join(" and ");
  return `${which} ${unsigned.length === 1 ? "is" : "are"} not signed: whoever knows the URL can trigger it. See \`signature\` in the README.`;
}
