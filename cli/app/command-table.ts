import type { Command } from "./command.ts";

/** How the help of `svc` groups the commands, in this order. */
export const sections = ["Project", "Executions", "What is deployed", "Service"] as const;
type Section = (typeof sections)[number];

/** A command. `load` imports its file, and with it whatever it needs. */
export interface Leaf {
  readonly summary: string;
  load(): Promise<{ default: Command }>;
}

/** Commands about one kind of thing. Without a command's name, `default` is meant, if there is one. */
export interface Group {
  readonly summary: string;
  readonly default?: string;
  readonly commands: Readonly<Record<string, Leaf | Group>>;
}

/** Every command of `svc`. */
export type CommandName =
  | "init"
  | "create"
  | "test"
  | "push"
  | "run"
  | "executions"
  | "logs"
  | "status"
  | "deployments"
  | "webhook"
  | "schedules"
  | "secrets"
  | "keys"
  | "admin"
  | "doctor"
  | "serve";

/** The commands by name, in the order in which the help shows them within their sections. */
export const commands: Readonly<Record<CommandName, (Leaf | Group) & { section: Section }>> = {
  init: {
    section: "Project",
    summary: "Write a new project that works as it is",
    load: () => import("../commands/init.ts"),
  },
  create: {
    section: "Project",
    summary: "Add an agent or a workflow to the project",
    commands: {
      agent: { summary: "Add an agent", load: () => import("../commands/create/agent.ts") },
      workflow: { summary: "Add a workflow", load: () => import("../commands/create/workflow.ts") },
    },
  },
  test: {
    section: "Project",
    summary: "Run agents and workflows on this machine",
    load: () => import("../commands/test.ts"),
  },
  push: {
    section: "Project",
    summary: "Check, package and deploy the project",
    load: () => import("../commands/push.ts"),
  },
  run: {
    section: "Executions",
    summary: "Run an agent or a workflow and print its output",
    load: () => import("../commands/run.ts"),
  },
  status: {
    section: "Executions",
    summary: "Show whether the service is well, and what is deployed",
    load: () => import("../commands/status.ts"),
  },
  logs: {
    section: "Executions",
    summary: "Show the log, or follow it",
    load: () => import("../commands/logs.ts"),
  },
  executions: {
    section: "Executions",
    summary: "What ran, and how it ended",
    default: "list",
    commands: {
      list: {
        summary: "List executions, newest first",
        load: () => import("../commands/executions/list.ts"),
      },
      show: {
        summary: "Show one execution with its input and output",
        load: () => import("../commands/executions/show.ts"),
      },
      cancel: { summary: "End an execution", load: () => import("../commands/executions/cancel.ts") },
      replay: {
        summary: "Run the input of an execution again",
        load: () => import("../commands/executions/replay.ts"),
      },
      diff: {
        summary: "Compare two executions",
        load: () => import("../commands/executions/diff.ts"),
      },
    },
  },
  deployments: {
    section: "What is deployed",
    summary: "What was pushed, and what is active",
    default: "list",
    commands: {
      list: {
        summary: "List deployments, newest first",
        load: () => import("../commands/deployments/list.ts"),
      },
      show: { summary: "Show one deployment", load: () => import("../commands/deployments/show.ts") },
      download: {
        summary: "Write the package of a deployment to a file",
        load: () => import("../commands/deployments/download.ts"),
      },
      rollback: {
        summary: "Make an earlier deployment the active one again",
        load: () => import("../commands/deployments/rollback.ts"),
      },
      promote: {
        summary: "Deploy the package of a deployment to another environment",
        load: () => import("../commands/deployments/promote.ts"),
      },
      delete: { summary: "Delete a deployment", load: () => import("../commands/deployments/delete.ts") },
    },
  },
  webhook: {
    section: "What is deployed",
    summary: "The URLs that trigger agents and workflows",
    default: "list",
    commands: {
      list: { summary: "List the webhook URLs", load: () => import("../commands/webhook/list.ts") },
      test: {
        summary: "Try a webhook's field mapping on a payload",
        load: () => import("../commands/webhook/test.ts"),
      },
      deliveries: {
        summary: "What was sent to the webhooks",
        load: () => import("../commands/webhook/deliveries.ts"),
      },
      delivery: {
        summary: "Show one delivery with its headers and payload",
        load: () => import("../commands/webhook/delivery.ts"),
      },
      redeliver: {
        summary: "Run what was sent to a webhook again",
        load: () => import("../commands/webhook/redeliver.ts"),
      },
    },
  },
  schedules: {
    section: "What is deployed",
    summary: "What runs by the clock",
    default: "list",
    commands: {
      list: {
        summary: "List the schedules with their next runs",
        load: () => import("../commands/schedules/list.ts"),
      },
      show: {
        summary: "Show one schedule with its next runs and last ticks",
        load: () => import("../commands/schedules/show.ts"),
      },
      pause: { summary: "Stop a schedule for a time", load: () => import("../commands/schedules/pause.ts") },
      resume: {
        summary: "Let a paused schedule run again",
        load: () => import("../commands/schedules/resume.ts"),
      },
    },
  },
  secrets: {
    section: "What is deployed",
    summary: "What agents know and nobody reads",
    default: "list",
    commands: {
      list: { summary: "List the names of the secrets", load: () => import("../commands/secrets/list.ts") },
      set: { summary: "Set a secret", load: () => import("../commands/secrets/set.ts") },
      remove: { summary: "Remove a secret", load: () => import("../commands/secrets/remove.ts") },
    },
  },
  keys: {
    section: "Service",
    summary: "The API keys of the organization",
    default: "list",
    commands: {
      list: { summary: "List the keys", load: () => import("../commands/keys/list.ts") },
      create: { summary: "Create a key", load: () => import("../commands/keys/create.ts") },
      revoke: { summary: "Revoke a key", load: () => import("../commands/keys/revoke.ts") },
    },
  },
  doctor: {
    section: "Service",
    summary: "Find out what is wrong, from here to the service",
    load: () => import("../commands/doctor.ts"),
  },
  serve: {
    section: "Service",
    summary: "Run the service",
    load: () => import("../commands/serve.ts"),
  },
  admin: {
    section: "Service",
    summary: "Organizations and keys, beside the store of a service",
    commands: {
      organizations: {
        summary: "The organizations of a service",
        default: "list",
        commands: {
          list: {
            summary: "List the organizations",
            load: () => import("../commands/admin/organizations/list.ts"),
          },
          create: {
            summary: "Create an organization and its first key",
            load: () => import("../commands/admin/organizations/create.ts"),
          },
        },
      },
      keys: {
        summary: "Keys of any organization",
        commands: {
          create: { summary: "Create a key", load: () => import("../commands/admin/keys/create.ts") },
        },
      },
    },
  },
};
