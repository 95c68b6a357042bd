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

function leaf(summary: string, load: Leaf["load"]): Leaf {
  return { summary, load };
}

type Table = Readonly<Record<string, Leaf | Group>>;

const project: Table = {
  init: leaf("Creates a project", () => import("../commands/init.ts")),
  create: {
    summary: "Adds an agent or a workflow to the project",
    commands: {
      agent: leaf("Adds an agent", () => import("../commands/create/agent.ts")),
      workflow: leaf("Adds a workflow", () => import("../commands/create/workflow.ts")),
    },
  },
  dev: leaf(
    "Runs the project on this machine and deploys it on each change",
    () => import("../commands/dev.ts"),
  ),
  test: leaf("Runs agents and workflows on this machine", () => import("../commands/test.ts")),
  types: leaf(
    "Writes the types of the project's agents, workflows and secrets",
    () => import("../commands/types.ts"),
  ),
  push: leaf("Deploys the project", () => import("../commands/push.ts")),
};

const executions: Table = {
  run: leaf("Runs an agent or a workflow", () => import("../commands/run.ts")),
  status: leaf("Prints service status and active deployments", () => import("../commands/status.ts")),
  logs: leaf("Prints logs and the audit log", () => import("../commands/logs.ts")),
  executions: {
    summary: "Manages executions",
    default: "list",
    commands: {
      list: leaf("Lists executions, newest first", () => import("../commands/executions/list.ts")),
      show: leaf("Prints one execution", () => import("../commands/executions/show.ts")),
      cancel: leaf("Cancels an execution", () => import("../commands/executions/cancel.ts")),
      replay: leaf(
        "Runs an execution again with the same input",
        () => import("../commands/executions/replay.ts"),
      ),
      diff: leaf("Compares two executions", () => import("../commands/executions/diff.ts")),
    },
  },
};

const deployed: Table = {
  deployments: {
    summary: "Manages deployments",
    default: "list",
    commands: {
      list: leaf("Lists deployments, newest first", () => import("../commands/deployments/list.ts")),
      show: leaf("Prints one deployment", () => import("../commands/deployments/show.ts")),
      download: leaf(
        "Downloads the package of a deployment",
        () => import("../commands/deployments/download.ts"),
      ),
      rollback: leaf(
        "Rolls back to an earlier deployment",
        () => import("../commands/deployments/rollback.ts"),
      ),
      promote: leaf(
        "Deploys the package of a deployment to another environment",
        () => import("../commands/deployments/promote.ts"),
      ),
      delete: leaf("Deletes a deployment", () => import("../commands/deployments/delete.ts")),
    },
  },
  webhook: {
    summary: "Manages webhooks and their deliveries",
    default: "list",
    commands: {
      list: leaf("Lists webhook URLs", () => import("../commands/webhook/list.ts")),
      add: leaf("Adds the webhook of a sender to the project", () => import("../commands/webhook/add.ts")),
      test: leaf("Applies a field mapping to a payload", () => import("../commands/webhook/test.ts")),
      deliveries: leaf("Lists deliveries, newest first", () => import("../commands/webhook/deliveries.ts")),
      delivery: leaf("Prints one delivery", () => import("../commands/webhook/delivery.ts")),
      redeliver: leaf("Runs deliveries again", () => import("../commands/webhook/redeliver.ts")),
    },
  },
  schedules: {
    summary: "Manages cron schedules",
    default: "list",
    commands: {
      list: leaf("Lists schedules", () => import("../commands/schedules/list.ts")),
      show: leaf("Prints one schedule", () => import("../commands/schedules/show.ts")),
      pause: leaf("Pauses a schedule", () => import("../commands/schedules/pause.ts")),
      resume: leaf("Resumes a paused schedule", () => import("../commands/schedules/resume.ts")),
    },
  },
  secrets: {
    summary: "Manages secrets of agents and workflows",
    default: "list",
    commands: {
      list: leaf("Lists the names of secrets", () => import("../commands/secrets/list.ts")),
      set: leaf("Sets a secret", () => import("../commands/secrets/set.ts")),
      remove: leaf("Removes a secret", () => import("../commands/secrets/remove.ts")),
    },
  },
};

const organizations: Group = {
  summary: "Manages organizations",
  default: "list",
  commands: {
    list: leaf("Lists organizations", () => import("../commands/admin/organizations/list.ts")),
    create: leaf(
      "Creates an organization and its first API key",
      () => import("../commands/admin/organizations/create.ts"),
    ),
  },
};

const service: Table = {
  login: leaf("Stores the address and an API key of a service", () => import("../commands/login.ts")),
  logout: leaf("Removes a stored API key", () => import("../commands/logout.ts")),
  whoami: leaf(
    "Prints the organization and the source of the API key",
    () => import("../commands/whoami.ts"),
  ),
  profiles: {
    summary: "Manages the profiles that `svc login` stores",
    default: "list",
    commands: {
      list: leaf("Lists profiles", () => import("../commands/profiles/list.ts")),
      use: leaf("Chooses the profile to use", () => import("../commands/profiles/use.ts")),
    },
  },
  keys: {
    summary: "Manages API keys",
    default: "list",
    commands: {
      list: leaf("Lists API keys", () => import("../commands/keys/list.ts")),
      create: leaf("Creates an API key", () => import("../commands/keys/create.ts")),
      revoke: leaf("Revokes an API key", () => import("../commands/keys/revoke.ts")),
    },
  },
  mcp: leaf("Serves tools for models over standard input and output", () => import("../commands/mcp.ts")),
  open: leaf("Opens the web console in the browser", () => import("../commands/open.ts")),
  completion: leaf("Prints a completion script for a shell", () => import("../commands/completion.ts")),
  doctor: leaf(
    "Checks the configuration, the service and the project",
    () => import("../commands/doctor.ts"),
  ),
  serve: leaf("Runs the service", () => import("../commands/serve.ts")),
  admin: {
    summary: "Manages the store: organizations, API keys, schema, backups and copies",
    commands: {
      organizations,
      keys: {
        summary: "Manages API keys of any organization",
        commands: {
          create: leaf("Creates an API key", () => import("../commands/admin/keys/create.ts")),
        },
      },
      secrets: {
        summary: "Manages secrets of all organizations",
        commands: {
          reset: leaf("Deletes all secrets", () => import("../commands/admin/secrets/reset.ts")),
        },
      },
      "rotate-master-key": leaf(
        "Replaces the key that encrypts secrets",
        () => import("../commands/admin/rotate-master-key.ts"),
      ),
      stats: leaf("Prints sizes and numbers of the store", () => import("../commands/admin/stats.ts")),
      migrate: leaf("Brings the schema up to date", () => import("../commands/admin/migrate.ts")),
      backup: leaf(
        "Backs up an embedded store, also while it is in use",
        () => import("../commands/admin/backup.ts"),
      ),
      restore: leaf("Creates a data folder from a backup", () => import("../commands/admin/restore.ts")),
      export: leaf("Copies an embedded store to PostgreSQL", () => import("../commands/admin/export.ts")),
      import: leaf(
        "Copies a store from PostgreSQL to a data folder",
        () => import("../commands/admin/import.ts"),
      ),
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
