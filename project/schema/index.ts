/**
 * The JSON Schema of the project file, for editors and for the reference. It describes each key, and accepts every file
 * that the parser accepts. Rules between keys, such as unique names, are checked by the parser alone.
 */
import { maxHosts } from "../file/network.ts";
import { namedSchedule, schedule, schedules } from "./schedule.ts";
import { target } from "./target.ts";
import { list, map, mapOf, name, optionalList, ref, type Schema, text } from "./values.ts";
import { vars } from "./vars.ts";
import { webhook } from "./webhook.ts";

/** The file of the schema, in the root folder of this package. */
export const SCHEMA_FILE = "project.schema.json";

export const projectSchema: Schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "svc-project.yaml",
  ...(map(
    "A project of agents and workflows, which `svc push` deploys.",
    {
      name: text("Name of the project."),
      version: text('Version of the project, in quotes: "1.0.0".'),
      agents: optionalList("Agents, whose modules are in agents/.", ref("agent")),
      workflows: optionalList("Workflows, whose modules are in workflows/.", ref("workflow")),
      schedules,
      network: list(
        'Hosts that the code may reach: names such as api.github.com, "*.stripe.com" or db.example.com:5432. Default: all that the server allows.',
        text("A host, with an optional port.", {
          pattern:
            "^(\\*\\.)?([A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63})*|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$",
        }),
        { maxItems: maxHosts },
      ),
      vars: vars("Variables, which code reads as ctx.vars: configuration that is not secret."),
      environments: mapOf(
        "Settings of single environments, by name.",
        {
          ...(map("Settings of one environment.", {
            vars: vars("Variables of the environment. They replace those of the project."),
          }) as object),
          type: ["object", "null"],
        },
        { propertyNames: name("Name of an environment.") },
      ),
      on_failure: {
        description:
          "Called when an execution has failed for good: the name of an agent or workflow of this file, or a webhook.",
        anyOf: [
          name("An agent or workflow."),
          map(
            "A webhook, whose requests are signed as Standard Webhooks.",
            {
              url: text("An http or https URL.", { pattern: "^[Hh][Tt][Tt][Pp][Ss]?:" }),
              secret: name("Name of the secret whsec_… that signs the requests."),
            },
            { required: ["url", "secret"] },
          ),
        ],
      },
    },
    { required: ["name", "version"] },
  ) as object),
  definitions: { agent: target("agent"), workflow: target("workflow"), webhook, schedule, namedSchedule },
};
