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
  /** Of one notification for one process that listens to its channel, and `ignoredMs` of PostgreSQL for one that does not. PostgreSQL wakes both. */
  notification: { databaseMs: number; ignoredMs: number; receiverMs: number };
  /** Measured with one api process and one worker, for comparison. */
  rates: { acceptedPerSecond: number; executedPerSecond: number };
}

export interface Machine {
  /** Processors of PostgreSQL. */
  databaseProcessors: number;
  /** Processors for the runners of a node. */
  runnerProcessors: number;
  walBytesPerSecond: number;
  /** The share of the processes in which requests wait for executions, from 0 to 1. */
  waitingShare: number;
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
/** Workers receive the announcement of a new execution. */
const queuedPerExecution = 1;
/** Only processes with requests that wait for executions receive those of a claim and an end. */
const statesPerExecution = 2;
const notificationsPerExecution = queuedPerExecution + statesPerExecution;

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
      notifications(figures, machine, nodes, low).databaseMs /
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
  figures: Figures,
  machine: Machine,
  nodes: number,
  perSecond: number,
): Record<string, number> {
  const { accept, execute, walBytes, idleDatabaseMs } = figures;
  const sent = notifications(figures, machine, nodes, perSecond);
  const databaseMs =
    perSecond * (accept.databaseMs + execute.databaseMs) + nodes * 2 * idleDatabaseMs + sent.databaseMs;
  const share = perSecond / nodes;
  return {
    "api process": (share * accept.apiMs + sent.apiMs) / 1000,
    worker: (share * execute.workerMs + sent.workerMs) / 1000,
    runners: (share * execute.runnerMs) / 1000 / machine.runnerProcessors,
    PostgreSQL: databaseMs / 1000 / machine.databaseProcessors,
    WAL: (perSecond * walBytes) / machine.walBytesPerSecond,
  };
}

/** Processor time of all notifications of one second: of PostgreSQL, and of each process of a role. */
function notifications(
  { notification: { databaseMs, ignoredMs, receiverMs } }: Figures,
  { waitingShare }: Machine,
  nodes: number,
  perSecond: number,
): { databaseMs: number; apiMs: number; workerMs: number } {
  const processes = nodes * 2;
  const sent = Math.min(processes * maxNotificationsPerSecond, perSecond * notificationsPerExecution);
  const queued = (sent * queuedPerExecution) / notificationsPerExecution;
  const states = (sent - queued) * waitingShare;
  const received = queued * nodes + states * processes;
  return {
    databaseMs: received * databaseMs + (sent * processes - received) * ignoredMs,
    apiMs: states * receiverMs,
    workerMs: (queued + states) * receiverMs,
  };
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
