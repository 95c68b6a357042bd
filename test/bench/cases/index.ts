/** All cases, in the order of a full run. Their modules are loaded when they run. */
import type { Case } from "../runner/case.ts";

export interface Entry {
  name: string;
  /** One line for `--list` and the headings of the results. */
  summary: string;
  load(): Promise<Case>;
}

export const entries: readonly Entry[] = [
  {
    name: "accept",
    summary: "accepted webhooks by body size, on SQLite and PostgreSQL, each durable before its 202",
    load: () => import("./webhooks/accept.ts"),
  },
  {
    name: "connections",
    summary: "accepted webhooks by number of connections",
    load: () => import("./webhooks/connections.ts"),
  },
  {
    name: "saturation",
    summary: "latency of the 202 while all accepted webhooks are executed",
    load: () => import("./webhooks/saturation.ts"),
  },
  {
    name: "followers",
    summary: "accepting while 100 streams follow the log and 100 watch an execution",
    load: () => import("./server/followers.ts"),
  },
  {
    name: "peers",
    summary:
      "drain of a queue, webhook to execution, trigger to start: svc and other queues, at the same durability",
    load: () => import("./queue/peers.ts"),
  },
  {
    name: "latency",
    summary: "webhook to the first line of the agent, by load",
    load: () => import("./webhooks/latency.ts"),
  },
  {
    name: "burst",
    summary: "a burst of 10,000 webhooks, until the last one has been executed",
    load: () => import("./webhooks/burst.ts"),
  },
  {
    name: "cold-start",
    summary: "first webhook of a deployment to the first line of the agent",
    load: () => import("./webhooks/cold-start.ts"),
  },
  {
    name: "backlog",
    summary: "accepting and executing with a backlog of queued executions",
    load: () => import("./queue/backlog.ts"),
  },
  {
    name: "deployments",
    summary: "accepting and executing by number of deployments",
    load: () => import("./queue/deployments.ts"),
  },
  {
    name: "organizations",
    summary: "accepting by number of organizations",
    load: () => import("./queue/organizations.ts"),
  },
  {
    name: "rpc",
    summary: "processor time of a call through the RPC pipeline and through connect-node alone",
    load: () => import("./server/rpc.ts"),
  },
  {
    name: "mapping",
    summary: "field mapping of a GitHub event with eight paths",
    load: () => import("./tools/mapping.ts"),
  },
  {
    name: "schedules",
    summary: "a pass of the scheduler, and 100,000 schedules in the store",
    load: () => import("./queue/schedules.ts"),
  },
  {
    name: "push",
    summary: "`svc push --dry-run` of 10,000 files, and git with tar",
    load: () => import("./tools/push.ts"),
  },
  {
    name: "cli",
    summary: "start of commands, and of an empty program of Node",
    load: () => import("./tools/cli.ts"),
  },
  {
    name: "server-start",
    summary: "start of the server to `/readyz`, and its idle memory",
    load: () => import("./server/server-start.ts"),
  },
  {
    name: "plugin",
    summary: "processor time of a request of the REST plugin and of the runtime's `fetch`",
    load: () => import("./tools/plugin.ts"),
  },
  {
    name: "files",
    summary: "1 GiB down and up through the REST plugin, and its memory",
    load: () => import("./tools/files.ts"),
  },
  {
    name: "runtimes",
    summary: "Node, Bun and Deno: accepting, executing, latency",
    load: () => import("./server/runtimes.ts"),
  },
  {
    name: "memory",
    summary: "resident memory of the server after many webhooks",
    load: () => import("./server/memory.ts"),
  },
];
