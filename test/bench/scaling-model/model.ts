/**
 * An estimate of the throughput of many nodes from measured service times. A node is one api process, one worker and the
 * worker's runners. Each part is a station; the one whose utilization reaches 70 % first is the bottleneck.
 *
 * Below 70 % the mean wait at a station is that of M/M/c (Erlang C). Processes of Node use one processor. Not modelled:
 * networks, locks, checkpoints, autovacuum, and work of the users' code.
 */

/** Milliseconds of processor time, unless the name says otherwise. */
export interface Figures {
  /** Of one webhook. */
  accept: { apiMs: number; databaseMs: number };
  /** Of one execution of a trivial agent. */
  execute: { workerMs: number; runnerMs: number; databaseMs: number };
  /** Of one webhook and its execution. */
  walBytes: number;
  /** Of PostgreSQL, in one second, for one idle process. */
  idleDatabaseMs: number;
  /** Of one notification that one process receives. */
  notification: { databaseMs: number; receiverMs: number };
  /** Measured with one api process and one worker, for comparison. */
  rates: { acceptedPerSecond: number; executedPerSecond: number };
}

export interface Machine {
  /** Processors of PostgreSQL. */
  databaseProcessors: number;
  /** Processors for the runners of a node. */
  runnerProcessors: number;
  walBytesPerSecond: number;
  connectionsPerProcess: number;
  maxConnections: number;
}

export interface Estimate {
  nodes: number;
  perSecond: number;
  bottleneck: string;
  /** Utilization of each station at this rate, from 0 to 1. */
  utilization: Record<string, number>;
  /** The share of notifications in PostgreSQL's processor time, from 0 to 1. */
  notificationShare: number;
  /** Mean wait at PostgreSQL. */
  databaseWaitMs: number;
  connections: number;
  fitsConnections: boolean;
}

/** Above it, waiting times grow too fast for a service. */
const maxUtilization = 0.7;
/** A process sends its notifications together, at most once in 5 ms. */
const maxNotificationsPerSecond = 200;
/** An execution is announced when it is queued, claimed and finished. */
const notificationsPerExecution = 3;

export function estimate(figures: Figures, machine: Machine, nodes: number): Estimate {
  // Utilization grows with the rate: halve the interval that contains the highest allowed rate.
  let [low, high] = [0, 1e7];
  for (let n = 0; n < 60; n++) {
    const middle = (low + high) / 2;
    if (Math.max(...Object.values(utilizationAt(figures, machine, nodes, middle))) > maxUtilization)
      high = middle;
    else low = middle;
  }
  const utilization = utilizationAt(figures, machine, nodes, low);
  const [bottleneck = ""] = Object.entries(utilization).toSorted((a, b) => b[1] - a[1])[0] ?? [];
  const { accept, execute } = figures;
  const connections = nodes * 2 * machine.connectionsPerProcess;
  return {
    nodes,
    perSecond: low,
    bottleneck,
    utilization,
    notificationShare:
      (notificationsPerSecond(nodes * 2, low) * nodes * 2 * figures.notification.databaseMs) /
      (1000 * machine.databaseProcessors * (utilization.PostgreSQL ?? 1)),
    databaseWaitMs: waitMs(
      utilization.PostgreSQL ?? 0,
      machine.databaseProcessors,
      (accept.databaseMs + execute.databaseMs) / 2,
    ),
    connections,
    fitsConnections: connections <= machine.maxConnections,
  };
}

function utilizationAt(
  { accept, execute, walBytes, idleDatabaseMs, notification }: Figures,
  machine: Machine,
  nodes: number,
  perSecond: number,
): Record<string, number> {
  const processes = nodes * 2;
  const sentByProcess = Math.min(
    maxNotificationsPerSecond,
    (perSecond / processes) * notificationsPerExecution,
  );
  const received = sentByProcess * processes;
  const databaseMs =
    perSecond * (accept.databaseMs + execute.databaseMs) +
    processes * idleDatabaseMs +
    received * processes * notification.databaseMs;
  const share = perSecond / nodes;
  return {
    "api process": (share * accept.apiMs + received * notification.receiverMs) / 1000,
    worker: (share * execute.workerMs + received * notification.receiverMs) / 1000,
    runners: (share * execute.runnerMs) / 1000 / machine.runnerProcessors,
    PostgreSQL: databaseMs / 1000 / machine.databaseProcessors,
    WAL: (perSecond * walBytes) / machine.walBytesPerSecond,
  };
}

/** Every process receives the notifications of all. */
function notificationsPerSecond(processes: number, perSecond: number): number {
  return Math.min(processes * maxNotificationsPerSecond, perSecond * notificationsPerExecution);
}

/** The mean wait of M/M/c. */
export function waitMs(utilization: number, servers: number, serviceMs: number): number {
  const load = utilization * servers;
  let term = 1;
  let sum = 1;
  for (let n = 1; n < servers; n++) {
    term *= load / n;
    sum += term;
  }
  const last = (term * load) / servers / (1 - utilization);
  return ((last / (sum + last)) * serviceMs) / (servers * (1 - utilization));
}
