import type { Command } from "./command.ts";

/** A command. `load` imports its file with everything that the command needs. */
export interface Leaf {
  readonly summary: string;
  load(): Promise<{ default: Command }>;
}

/** Commands for one kind of resource. Without a command's name, `default` runs. */
export interface Group {
  readonly summary: string;
  readonly default?: string;
  readonly commands: Readonly<Record<string, Leaf | Group>>;
}

type Table = Readonly<Record<string, Leaf | Group>>;

const project: Table = {
  init: { summary: "Creates a project", load: () => import("../commands/init.ts") },
  create: {
    summary: "Adds an agent or a workflow to the project",
    commands: {
      agent: { summary: "Adds an agent", load: () => import("../commands/create/agent.ts") },
      workflow: { summary: "Adds a workflow", load: () => import("../commands/create/workflow.ts") },
    },
  },
  test: { summary: "Runs agents and workflows on this machine", load: () => import("../commands/test.ts") },
  push: { summary: "Deploys the project", load: () => import("../commands/push.ts") },
};

const executions: Table = {
  run: { summary: "Runs an agent or a workflow", load: () => import("../commands/run.ts") },
  status: {
    summary: "Prints service status and active deployments",
    load: () => import("../commands/status.ts"),
  },
  logs: { summary: "Prints logs and the audit log", load: () => import("../commands/logs.ts") },
  executions: {
    summary: "Manages executions",
    default: "list",
    commands: {
      list: {
        summary: "Lists executions, newest first",
        load: () => import("../commands/executions/list.ts"),
      },
      show: { summary: "Prints one execution", load: () => import("../commands/executions/show.ts") },
      cancel: { summary: "Cancels an execution", load: () => import("../commands/executions/cancel.ts") },
      replay: {
        summary: "Runs an execution again with the same input",
        load: () => import("../commands/executions/replay.ts"),
      },
      diff: { summary: "Compares two executions", load: () => import("../commands/executions/diff.ts") },
    },
  },
};

const deployed: Table = {
  deployments: {
    summary: "Manages deployments",
    default: "list",
    commands: {
      list: {
        summary: "Lists deployments, newest first",
        load: () => import("../commands/deployments/list.ts"),
      },
      show: { summary: "Prints one deployment", load: () => import("../commands/deployments/show.ts") },
      download: {
        summary: "Downloads the package of a deployment",
        load: () => import("../commands/deployments/download.ts"),
      },
      rollback: {
        summary: "Rolls back to an earlier deployment",
        load: () => import("../commands/deployments/rollback.ts"),
      },
      promote: {
        summary: "Deploys the package of a deployment to another environment",
        load: () => import("../commands/deployments/promote.ts"),
      },
      delete: { summary: "Deletes a deployment", load: () => import("../commands/deployments/delete.ts") },
    },
  },
  webhook: {
    summary: "Manages webhooks and their deliveries",
    default: "list",
    commands: {
      list: { summary: "Lists webhook URLs", load: () => import("../commands/webhook/list.ts") },
      test: {
        summary: "Applies a field mapping to a payload",
        load: () => import("../commands/webhook/test.ts"),
      },
      deliveries: {
        summary: "Lists deliveries, newest first",
        load: () => import("../commands/webhook/deliveries.ts"),
      },
      delivery: { summary: "Prints one delivery", load: () => import("../commands/webhook/delivery.ts") },
      redeliver: { summary: "Runs deliveries again", load: () => import("../commands/webhook/redeliver.ts") },
    },
  },
  schedules: {
    summary: "Manages cron schedules",
    default: "list",
    commands: {
      list: { summary: "Lists schedules", load: () => import("../commands/schedules/list.ts") },
      show: { summary: "Prints one schedule", load: () => import("../commands/schedules/show.ts") },
      pause: { summary: "Pauses a schedule", load: () => import("../commands/schedules/pause.ts") },
      resume: { summary: "Resumes a paused schedule", load: () => import("../commands/schedules/resume.ts") },
    },
  },
  secrets: {
    summary: "Manages secrets of agents and workflows",
    default: "list",
    commands: {
      list: { summary: "Lists the names of secrets", load: () => import("../commands/secrets/list.ts") },
      set: { summary: "Sets a secret", load: () => import("../commands/secrets/set.ts") },
      remove: { summary: "Removes a secret", load: () => import("../commands/secrets/remove.ts") },
    },
  },
};

const organizations: Group = {
  summary: "Manages organizations",
  default: "list",
  commands: {
    list: { summary: "Lists organizations", load: () => import("../commands/admin/organizations/list.ts") },
    create: {
      summary: "Creates an organization and its first API key",
      load: () => import("../commands/admin/organizations/create.ts"),
    },
  },
};

const service: Table = {
  keys: {
    summary: "Manages API keys",
    default: "list",
    commands: {
      list: { summary: "Lists API keys", load: () => import("../commands/keys/list.ts") },
      create: { summary: "Creates an API key", load: () => import("../commands/keys/create.ts") },
      revoke: { summary: "Revokes an API key", load: () => import("../commands/keys/revoke.ts") },
    },
  },
  doctor: {
    summary: "Checks the configuration, the service and the project",
    load: () => import("../commands/doctor.ts"),
  },
  serve: { summary: "Runs the service", load: () => import("../commands/serve.ts") },
  admin: {
    summary: "Manages organizations and API keys in a data folder",
    commands: {
      organizations,
      keys: {
        summary: "Manages API keys of any organization",
        commands: {
          create: { summary: "Creates an API key", load: () => import("../commands/admin/keys/create.ts") },
        },
      },
    },
  },
};

/** The sections of `svc --help`, in order. */
export const sections: readonly (readonly [title: string, commands: Table])[] = [
  ["Project", project],
  ["Executions", executions],
  ["Deployments", deployed],
  ["Service", service],
];

/** Every command of `svc` by name. */
export const commands: Table = { ...project, ...executions, ...deployed, ...service };
