/**
 * Shares the concurrency of this process fairly between organizations, and between the deployments of each organization.
 *
 * Glossary: a *slot* allows one execution to run. A party (an organization, or a deployment of one) is *active* when it
 * holds slots or waits for them. The *fair share* of a party is the number of slots divided by the number of active
 * parties. While another party waits, no party gets more slots than its fair share. Otherwise it may take further slots,
 * except for a reserve that keeps some free for a party that is not active yet.
 */

/** With several organizations in the store, this share of the slots is not available to a single one of them. */
const reservedShare = 1 / 4;

interface Party {
  held: number;
  waiting: boolean;
}

class FairShare {
  readonly #parties = new Map<string, Party>();
  #held = 0;
  #waiting = 0;

  /** The number of slots that a party may hold, of `total`. */
  limit(key: string, total: number, reserve: number): number {
    const party = this.#parties.get(key);
    const active = Math.max(this.#parties.size + (party === undefined ? 1 : 0), reserve > 0 ? 2 : 1);
    const share = Math.max(1, Math.floor(total / active));
    const othersWait = this.#waiting > (party?.waiting ? 1 : 0);
    if (othersWait) return share;
    const heldByOthers = this.#held - (party?.held ?? 0);
    return Math.max(share, total - heldByOthers - reserve);
  }

  /** The number of slots that a party may take now, when it may hold `limit` of `total`. */
  room(key: string, total: number, limit: number): number {
    return Math.max(0, Math.min(total - this.#held, limit - (this.#parties.get(key)?.held ?? 0)));
  }

  hold(key: string, count: number): void {
    this.#held += count;
    this.#update(key, (party) => {
      party.held += count;
    });
  }

  setWaiting(key: string, waiting: boolean): void {
    this.#update(key, (party) => {
      if (party.waiting !== waiting) this.#waiting += waiting ? 1 : -1;
      party.waiting = waiting;
    });
  }

  get waiting(): boolean {
    return this.#waiting > 0;
  }

  get active(): boolean {
    return this.#parties.size > 0;
  }

  #update(key: string, change: (party: Party) => void): void {
    const party = this.#parties.get(key) ?? { held: 0, waiting: false };
    change(party);
    if (party.held === 0 && !party.waiting) this.#parties.delete(key);
    else this.#parties.set(key, party);
  }
}

export class ConcurrencyLimiter {
  readonly #slots: number;
  readonly #organizations = new FairShare();
  readonly #deployments = new Map<string, FairShare>();
  /** New executions of each deployment that are being written. The pools do not know them yet. */
  readonly #pending = new Map<string, number>();
  /** The number of organizations in the store. */
  organizationCount = 1;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * The number of executions of a deployment that may start now.
   *
   * @param free - the number that its runners accept
   */
  room(orgId: string, deploymentId: string, free: number): number {
    return Math.min(free - (this.#pending.get(deploymentId) ?? 0), this.#slotRoom(orgId, deploymentId));
  }

  /** Takes slots for new executions that are being written. @returns a function that releases all but those that started */
  reserve(orgId: string, deploymentId: string, count: number): (started: number) => void {
    this.hold(orgId, deploymentId, count);
    this.#pending.set(deploymentId, (this.#pending.get(deploymentId) ?? 0) + count);
    return (started) => {
      this.hold(orgId, deploymentId, started - count);
      const pending = (this.#pending.get(deploymentId) ?? 0) - count;
      if (pending === 0) this.#pending.delete(deploymentId);
      else this.#pending.set(deploymentId, pending);
    };
  }

  /** Takes slots, or releases them when `count` is negative. */
  hold(orgId: string, deploymentId: string, count: number): void {
    this.#organizations.hold(orgId, count);
    this.#update(orgId, (deployments) => deployments.hold(deploymentId, count));
  }

  /** Records whether a deployment has due executions that only lack slots. */
  setWaiting(orgId: string, deploymentId: string, waiting: boolean): void {
    this.#update(orgId, (deployments) => {
      deployments.setWaiting(deploymentId, waiting);
      this.#organizations.setWaiting(orgId, deployments.waiting);
    });
  }

  #slotRoom(orgId: string, deploymentId: string): number {
    const reserve = this.organizationCount > 1 ? Math.floor(this.#slots * reservedShare) : 0;
    const limit = this.#organizations.limit(orgId, this.#slots, reserve);
    const room = this.#organizations.room(orgId, this.#slots, limit);
    const deployments = this.#deployments.get(orgId);
    if (deployments === undefined) return room;
    return Math.min(room, deployments.room(deploymentId, limit, deployments.limit(deploymentId, limit, 0)));
  }

  #update(orgId: string, change: (deployments: FairShare) => void): void {
    const deployments = this.#deployments.get(orgId) ?? new FairShare();
    change(deployments);
    if (deployments.active) this.#deployments.set(orgId, deployments);
    else this.#deployments.delete(orgId);
  }
}
