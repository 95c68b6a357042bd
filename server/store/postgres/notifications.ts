/**
 * Notifications between processes, over LISTEN and NOTIFY on a connection of their own.
 *
 * Topics that decide what a process may do (`routes`, `keys`, `secrets`, `cancel`) are sent in the transaction. The rest are
 * hints and sent afterwards, because PostgreSQL lets transactions with a NOTIFY commit one at a time. Hints that arrive
 * within `gapMs` share a NOTIFY.
 *
 * States: *disconnected*: every listener is called with null once a second, because anything may have changed; *listening*:
 * a heartbeat notices a dead connection. After each connect, the listeners are called with null once.
 */
import { randomUUID } from "node:crypto";
import type { Listener, Notification, Topic } from "../engine.ts";
import { Listeners } from "../listeners.ts";
import type { Connection } from "./connection.ts";

const guaranteed: ReadonlySet<Topic> = new Set<Topic>(["routes", "keys", "secrets", "cancel"]);

/** PostgreSQL's limit is 8,000 bytes. */
const maxPayload = 7_500;
/** With more payloads than this at once, the receivers check everything. */
const maxPayloads = 8;
const gapMs = 5;
const heartbeatMs = 400;

const NOTIFY = "SELECT pg_notify('svc', $1)";

type Keys = Partial<Record<Topic, string[]>>;

interface Message {
  /** The sending process, which has called its own listeners. */
  from: string;
  /** Null for a topic: any key may have changed. */
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
    return this.#listeners.add(topic, listener);
  }

  /** The payloads that a transaction sends. */
  payloads(notifications: readonly Notification[]): string[] {
    return this.#payloadsOf(keysOf(notifications.filter(({ topic }) => guaranteed.has(topic))));
  }

  /** Calls the listeners of this process after a commit, and sends the hints. */
  committed(notifications: readonly Notification[]): void {
    for (const [topic, keys] of Object.entries(keysOf(notifications)) as [Topic, string[]][]) {
      for (const key of keys) this.#listeners.call(topic, key);
      if (guaranteed.has(topic)) continue;
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
    for (const payload of this.#payloadsOf(keys)) {
      // A lost hint is found by the receivers' next poll.
      this.#connection?.query(NOTIFY, [payload]).catch(() => {});
    }
  }

  #payloadsOf(keys: Keys): string[] {
    const from = this.#process;
    const messages: Message[] = [];
    for (const [topic, list] of Object.entries(keys) as [Topic, string[]][]) {
      let part: string[] = [];
      let size = 0;
      for (const key of list) {
        if (size + key.length + 3 > maxPayload - 200) {
          messages.push({ from, topics: { [topic]: part } });
          part = [];
          size = 0;
        }
        part.push(key);
        size += key.length + 3;
      }
      messages.push({ from, topics: { [topic]: part } });
    }
    if (messages.length <= maxPayloads) return messages.map((message) => JSON.stringify(message));
    const topics = Object.fromEntries(Object.keys(keys).map((topic) => [topic, null]));
    return [JSON.stringify({ from, topics } satisfies Message)];
  }

  #receive(payload: string): void {
    const { from, topics } = JSON.parse(payload) as Message;
    if (from === this.#process) return;
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
      await connection.script("LISTEN svc");
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#answered = true;
    this.#connection = connection;
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
    this.#answered = false;
    await connection.query("SELECT 1").then(
      () => {
        this.#answered = true;
      },
      () => {},
    );
  }

  async #reconnect(): Promise<void> {
    while (!this.#closed && this.#connection === null) {
      await this.#connect().catch(() => new Promise((resolve) => setTimeout(resolve, heartbeatMs)));
    }
  }
}

function keysOf(notifications: readonly Notification[]): Keys {
  const keys: Partial<Record<Topic, Set<string>>> = {};
  for (const { topic, key } of notifications) {
    const set = keys[topic] ?? new Set();
    keys[topic] = set.add(key);
  }
  return Object.fromEntries(Object.entries(keys).map(([topic, set]) => [topic, [...set]]));
}
