/**
 * Limits the open connections of the process and of each address. Every connection holds a file descriptor, and the store,
 * packages and runners need descriptors too. The connections of a trusted proxy carry requests of many senders, so that only
 * the limit of the process applies to them.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Limits } from "../config/limits.ts";
import { http1Handover } from "../runtime.ts";
import type { TrustedProxies } from "../senders/trusted-proxies.ts";
import { log } from "../telemetry/log/index.ts";
import { metrics } from "../telemetry/metrics/index.ts";
import { sourceKey } from "../webhooks/rate-limit.ts";

/** Descriptors that remain for everything else. Deno stops accepting for good when it has none left. */
const reservedDescriptors = 256;
/** An HTTP/1.1 connection that is piped to another one holds three descriptors. */
const descriptorsPerConnection = http1Handover === "loopback" ? 3 : 1;
const leastConnections = 16;
const logIntervalMs = 60_000;

export class Admission {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #proxies: TrustedProxies;
  readonly #open = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  #refused = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(
    { connections, connectionsPerAddress }: Pick<Limits, "connections" | "connectionsPerAddress">,
    proxies: TrustedProxies,
  ) {
    this.#proxies = proxies;
    const free = Math.floor((maxDescriptors() - reservedDescriptors) / descriptorsPerConnection);
    this.#max = Math.min(connections, Math.max(free, leastConnections));
    this.#maxPerAddress = connectionsPerAddress;
  }

  /** Counts a connection until it closes. Over a limit, closes it and returns false. */
  admit(socket: Socket): boolean {
    const address = sourceKey(socket.remoteAddress);
    const sameAddress = this.#byAddress.get(address) ?? 0;
    const isLimited = sameAddress >= this.#maxPerAddress && !this.#proxies.hasPeer(socket);
    if (this.#open.size >= this.#max || isLimited) {
      socket.on("error", () => {});
      socket.destroy();
      this.#logRefusal();
      return false;
    }
    this.#open.add(socket);
    this.#byAddress.set(address, sameAddress + 1);
    socket.once("close", () => {
      this.#open.delete(socket);
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
    });
    return true;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Closes all admitted connections. */
  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #logRefusal(): void {
    this.#refused++;
    metrics.refusedConnections.add();
    const now = performance.now();
    if (now - this.#loggedMs < logIntervalMs) return;
    this.#loggedMs = now;
    log.error(
      `Refused ${this.#refused} connections: at most ${this.#max} may be open (SVC_MAX_CONNECTIONS), and ${this.#maxPerAddress} from one address (SVC_MAX_CONNECTIONS_PER_ADDRESS).`,
    );
    this.#refused = 0;
  }
}

/** The soft limit of open files; infinite where the system does not tell. */
function maxDescriptors(): number {
  try {
    const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
