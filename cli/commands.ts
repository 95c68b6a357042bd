import type { Command } from "./command.ts";

/** How the help of `svc` groups the commands, in this order. */
export const sections = ["Project", "Executions", "What is deployed", "Service"] as const;
type Section = (typeof sections)[number];

/** A command. `load` imports its file, and with it whatever it needs. */
export interface Leaf {
  readonly summary: string;
  load(): Promise<{ default: Command }>;
}

/** Commands about one kind of thing. Without a command's name, `default` is meant. */
export interface Group {
  readonly summary: string;
  readonly default: string;
  readonly commands: Readonly<Record<string, Leaf>>;
}

/** Every command of `svc`. */
export type CommandName =
  | "init"
  | "push"
  | "run"
  | "executions"
  | "logs"
  | "status"
  | "deployments"
  | "webhook"
  | "schedules"
  | "serve";

/** The commands by name, in the order in which the help shows them within their sections. */
export const commands: Readonly<Record<CommandName, (Leaf | Group) & { section: Section }>> = {
  init: {
    section: "Project",
    summary: "Write a new project that works as it is",
    load: () => import("./commands/init.ts"),
  },
  push: {
    section: "Project",
    summary: "Check, package and deploy the project",
    load: () => import("./commands/push.ts"),
  },
  run: {
    section: "Executions",
    summary: "Run an agent or a workflow and print its output",
    load: () => import("./commands/run.ts"),
  },
  status: {
    section: "Executions",
    summary: "Show whether the service is well, and what is deployed",
    load: () => import("./commands/status.ts"),
  },
  logs: {
    section: "Executions",
    summary: "Show the log, or follow it",
    load: () => import("./commands/logs.ts"),
  },
  executions: {
    section: "Executions",
    summary: "What ran, and how it ended",
    default: "list",
    commands: {
      list: { summary: "List executions, newest first", load: () => import("./commands/executions/list.ts") },
      show: {
        summary: "Show one execution with its input and output",
        load: () => import("./commands/executions/show.ts"),
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
        load: () => import("./commands/deployments/list.ts"),
      },
      show: { summary: "Show one deployment", load: () => import("./commands/deployments/show.ts") },
      download: {
        summary: "Write the package of a deployment to a file",
        load: () => import("./commands/deployments/download.ts"),
      },
      rollback: {
        summary: "Make an earlier deployment the active one again",
        load: () => import("./commands/deployments/rollback.ts"),
      },
      delete: { summary: "Delete a deployment", load: () => import("./commands/deployments/delete.ts") },
    },
  },
  webhook: {
    section: "What is deployed",
    summary: "The URLs that trigger agents and workflows",
    default: "list",
    commands: {
      list: { summary: "List the webhook URLs", load: () => import("./commands/webhook/list.ts") },
    },
  },
  schedules: {
    section: "What is deployed",
    summary: "What runs by the clock",
    default: "list",
    commands: {
      list: {
        summary: "List the schedules with their next runs",
        load: () => import("./commands/schedules/list.ts"),
      },
    },
  },
  serve: {
    section: "Service",
    summary: "Run the service",
    load: () => import("./commands/serve.ts"),
  },
};
