import type { ProjectDefinition } from "../../project/definition.ts";
import { count } from "../text.ts";

/** Says that webhooks without a signature obey whoever knows their URL; an empty string when all are signed. */
export function unsignedHint(definition: ProjectDefinition): string {
  const unsigned = [...definition.agents, ...definition.workflows].flatMap(({ name, webhooks }) =>
    webhooks.filter(({ signature }) => signature === null).map(({ slug }) => `${name}/${slug}`),
  );
  if (unsigned.length === 0) return "";
  const which = unsigned.length > 3 ? count(unsigned.length, "webhook") : unsigned.join(", ");
  const verb = unsigned.length === 1 ? "is" : "are";
  return `${which} ${verb} not signed: whoever knows the URL can trigger the agent. See \`signature\` and \`svc secrets set\`.`;
}
