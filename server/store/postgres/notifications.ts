/**
 * Notifications between processes, over LISTEN and NOTIFY on a connection of their own.
 *
 * Topics that decide what a process may do (`routes`, `keys`, `secrets`, `cancel`) are sent in the transaction, on a channel
 * that every process receives. The rest are hints. They are sent after the commit, because PostgreSQL lets transactions with
 * a NOTIFY commit one at a time, and at most once in `gapMs`. The frequent ones have a channel each, which a process receives
 * only while it has listeners: new executions reach processes that run code, and the states and logs of executions reach
 * processes that have requests waiting for them.
 *
 * States: *disconnected*: every listener is called with null once a second, because anything may have changed; *listening*:
 * a heartbeat notices a dead connection. After each connect, the listeners are called with null once, and so are those of
 * a topic when its channel is joined.
 */
import { randomUUID } from "node:crypto";
import type { Listener, Notification, Topic } from "../engine.ts";
import { Listeners } from "../listeners.ts";
import type { Connection } from "./connection.ts";

const guaranteed: ReadonlySet<Topic> = new Set<Topic>(["routes", "keys", "secrets", "cancel"]);
/** Topics with a channel of their own. */
const frequent: ReadonlySet<Topic> = new Set<Topic>([
  "queued",
  "execution",
  "log",
  "input_check",
  "input_checked",
]);

/** PostgreSQL's limit is 8,000 bytes. */
const maxPayload = 7_500;
/** With more payloads than this at once, the receivers check everything. */
const maxPayloads = 8;
const gapMs = 5;
const heartbeatMs = 400;

const NOTIFY = "SELECT pg_notify($1, $2)";

/** The parameters of a `pg_notify`. */
export type Sending = [channel: string, payload: string];

/** The channel of all processes. */
const everyone = "svc";

function channelOf(topic: Topic): string {
  return `svc_${topic}`;
}

type Keys = Partial<Record<Topic, string[]>>;

interface Message {
  /** The process that sent the message. It ignores its own messages, because it has called its listeners already. */
  from: string;
  /** The changed keys of each topic. Null: all keys of the topic may have changed. */
  topics: Partial<Record<Topic, string[] | null>>;
}

export class Notifications {
  readonly #open: () => Promise<Connection>;
  readonly #listeners = new Listeners();
  readonly #process = randomUUID();
  #connection: Connection | null = null;
  #heartbeat: NodeJS.Timeout | null = null;
  #answered = true;
  #hints = new Map<Topic, Set<string>>();
  /** The topics whose channels the connection receives. */
  #joined = new Set<Topic>();
  /** The notifications of transactions whose hints were sent with the commit. */
  readonly #sent = new WeakSet<readonly Notification[]>();
  #flush: NodeJS.Timeout | null = null;
  #sentAtMs = 0;
  #closed = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  async start(): Promise<void> {
    await this.#connect();
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs);
  }

  listen(topic: Topic, listener: Listener): () => void {
    const stop = this.#listeners.add(topic, listener);
    if (this.#connection !== null && frequent.has(topic) && !this.#joined.has(topic)) {
      // Notifications from before the channel was joined did not arrive.
      const joined = () => this.#listeners.call(topic, null);
      void this.#join(this.#connection, topic).then(joined, () => {});
    }
    return stop;
  }

  /** The notifications that a transaction sends. */
  payloads(notifications: readonly Notification[]): Sending[] {
    return this.#sendingsOf(keysOf(notifications.filter(({ topic }) => guaranteed.has(topic))));
  }

  /** The hints to send with the commit of a transaction. Empty within `gapMs` after earlier ones: `committed` sends them later. */
  hints(notifications: readonly Notification[]): Sending[] {
    if (this.#flush !== null || performance.now() < this.#sentAtMs + gapMs) return [];
    const hints = notifications.filter(({ topic }) => !guaranteed.has(topic));
    if (hints.length === 0) return [];
    this.#sentAtMs = performance.now();
    this.#sent.add(notifications);
    return this.#sendingsOf(keysOf(hints));
  }

  /** Calls the listeners of this process after a commit, and sends the hints that were not sent with it. */
  committed(notifications: readonly Notification[]): void {
    const wereSent = this.#sent.has(notifications);
    for (const [topic, keys] of Object.entries(keysOf(notifications)) as [Topic, string[]][]) {
      for (const key of keys) this.#listeners.call(topic, key);
      if (wereSent || guaranteed.has(topic)) continue;
      const hints = this.#hints.get(topic) ?? new Set();
      for (const key of keys) hints.add(key);
      this.#hints.set(topic, hints);
      const pauseMs = Math.max(0, this.#sentAtMs + gapMs - performance.now());
      this.#flush ??= setTimeout(() => this.#sendHints(), pauseMs);
    }
  }

  close(): void {
    this.#closed = true;
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    if (this.#flush !== null) clearTimeout(this.#flush);
    this.#connection?.close();
    this.#connection = null;
  }

  #sendHints(): void {
    this.#flush = null;
    this.#sentAtMs = performance.now();
    const hints = this.#hints;
    this.#hints = new Map();
    const keys = Object.fromEntries([...hints].map(([topic, set]) => [topic, [...set]])) as Keys;
    for (const sending of this.#sendingsOf(keys)) {
      // A lost hint is found by the receivers' next poll.
      this.#connection?.query(NOTIFY, sending).catch(() => {});
    }
  }

  #sendingsOf(keys: Keys): Sending[] {
    return (Object.entries(keys) as [Topic, string[]][]).flatMap(([topic, list]) => {
      const channel = frequent.has(topic) ? channelOf(topic) : everyone;
      const parts = partsOf(list);
      const sent = parts.length <= maxPayloads ? parts : [null];
      return sent.map((part): Sending => {
        const message: Message = { from: this.#process, topics: { [topic]: part } };
        return [channel, JSON.stringify(message)];
      });
    });
  }

  #receive(payload: string): void {
    const message = messageOf(payload);
    if (message === null || message.from === this.#process) return;
    const { topics } = message;
    for (const [topic, keys] of Object.entries(topics) as [Topic, string[] | null][]) {
      if (keys === null) this.#listeners.call(topic, null);
      else for (const key of keys) this.#listeners.call(topic, key);
    }
  }

  async #connect(): Promise<void> {
    const connection = await this.#open();
    if (this.#closed) return connection.close();
    connection.onNotification = (payload) => this.#receive(payload);
    try {
      await connection.script(`LISTEN ${everyone}`);
      this.#answered = true;
      this.#connection = connection;
      this.#joined = new Set();
      const wanted = [...frequent].filter((topic) => this.#listeners.has(topic));
      await Promise.all(wanted.map((topic) => this.#join(connection, topic)));
    } catch (error) {
      this.#connection = null;
      connection.close();
      throw error;
    }
    this.#listeners.callAll();
  }

  async #beat(): Promise<void> {
    const connection = this.#connection;
    if (connection === null || connection.isLost || !this.#answered) {
      connection?.close();
      this.#listeners.callAll();
      if (connection === null) return;
      this.#connection = null;
      await this.#reconnect();
      return;
    }
    // Not when the last listener stops: the next request may wait again soon.
    for (const topic of this.#joined) if (!this.#listeners.has(topic)) this.#leave(connection, topic);
    this.#answered = false;
    await connection.query("SELECT 1").then(
      () => {
        this.#answered = true;
      },
      () => {},
    );
  }

  async #join(connection: Connection, topic: Topic): Promise<void> {
    this.#joined.add(topic);
    await connection.script(`LISTEN ${channelOf(topic)}`);
  }

  #leave(connection: Connection, topic: Topic): void {
    this.#joined.delete(topic);
    // A connection that fails is replaced.
    connection.script(`UNLISTEN ${channelOf(topic)}`).catch(() => {});
  }

  async #reconnect(): Promise<void> {
    while (!this.#closed && this.#connection === null) {
      await this.#connect().catch(() => new Promise((resolve) => setTimeout(resolve, heartbeatMs)));
    }
  }
}

/** Null when another program has sent it: every user of the database may send notifications. */
function messageOf(payload: string): Message | null {
  try {
    const message = JSON.parse(payload) as Partial<Message> | null;
    return message?.from === undefined || message.topics === undefined ? null : (message as Message);
  } catch {
    return null;
  }
}

/** The keys in parts that fit into a payload. */
function partsOf(keys: readonly string[]): string[][] {
  const parts: string[][] = [];
  let size = maxPayload;
  for (const key of keys) {
    size += key.length + 3;
    if (size > maxPayload - 200) {
      parts.push([]);
      size = key.length + 3;
    }
    parts.at(-1)?.push(key);
  }
  return parts;
}

function keysOf(notifications: readonly Notification[]): Keys {
  const keys: Partial<Record<Topic, Set<string>>> = {};
  for (const { topic, key } of notifications) {
    const set = keys[topic] ?? new Set();
    keys[topic] = set.add(key);
  }
  return Object.fromEntries(Object.entries(keys).map(([topic, set]) => [topic, [...set]]));
}
