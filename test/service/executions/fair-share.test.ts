/** Fair sharing of the concurrency between organizations and deployments. */
import { describe, expect, test } from "vitest";
import { ConcurrencyLimiter } from "../../../server/executions/concurrency.ts";

const free = Number.POSITIVE_INFINITY;

/** Takes all slots that a deployment may take. @returns their number */
function takeAll(limiter: ConcurrencyLimiter, orgId: string, deploymentId: string): number {
  const room = limiter.room(orgId, deploymentId, free);
  limiter.hold(orgId, deploymentId, room);
  limiter.setWaiting(orgId, deploymentId, true);
  return room;
}

describe("concurrency", () => {
  test("a single organization may use all slots", () => {
    expect(takeAll(new ConcurrencyLimiter(256), "org_a", "dep_a")).toBe(256);
  });

  test("an organization leaves a reserve for the other organizations in the store", () => {
    const limiter = new ConcurrencyLimiter(256);
    limiter.organizationCount = 2;
    expect(takeAll(limiter, "org_a", "dep_a")).toBe(192);
    expect(limiter.room("org_b", "dep_b", free)).toBe(64);
  });

  test("no organization gets more than its fair share while another waits", () => {
    const limiter = new ConcurrencyLimiter(100);
    limiter.organizationCount = 2;
    takeAll(limiter, "org_a", "dep_a");
    takeAll(limiter, "org_b", "dep_b");
    // Each slot that org_a releases goes to org_b, until both hold their share.
    let [a, b] = [75, 25];
    while (b < 50) {
      limiter.hold("org_a", "dep_a", -1);
      a--;
      expect(limiter.room("org_a", "dep_a", free)).toBe(0);
      expect(limiter.room("org_b", "dep_b", free)).toBe(1);
      limiter.hold("org_b", "dep_b", 1);
      b++;
    }
    expect([a, b]).toEqual([50, 50]);
    expect(limiter.room("org_a", "dep_a", free) + limiter.room("org_b", "dep_b", free)).toBe(0);
  });

  test("many deployments do not increase the share of an organization", () => {
    const limiter = new ConcurrencyLimiter(100);
    limiter.organizationCount = 2;
    for (let n = 0; n < 9; n++) limiter.setWaiting("org_a", `dep_a${n}`, true);
    limiter.setWaiting("org_b", "dep_b", true);
    let held = 0;
    for (let n = 0; n < 9; n++) held += takeAll(limiter, "org_a", `dep_a${n}`);
    expect(held).toBe(45);
    expect(takeAll(limiter, "org_b", "dep_b")).toBe(50);
  });

  test("the deployments of an organization share its slots", () => {
    const limiter = new ConcurrencyLimiter(100);
    takeAll(limiter, "org_a", "dep_1");
    limiter.setWaiting("org_a", "dep_2", true);
    limiter.hold("org_a", "dep_1", -10);
    expect(limiter.room("org_a", "dep_1", free)).toBe(0);
    expect(limiter.room("org_a", "dep_2", free)).toBe(10);
  });

  test("an organization may use the slots of another that no longer waits", () => {
    const limiter = new ConcurrencyLimiter(100);
    takeAll(limiter, "org_a", "dep_a");
    limiter.setWaiting("org_b", "dep_b", true);
    limiter.hold("org_a", "dep_a", -60);
    expect(limiter.room("org_a", "dep_a", free)).toBe(10);
    limiter.setWaiting("org_b", "dep_b", false);
    expect(limiter.room("org_a", "dep_a", free)).toBe(60);
  });

  test("executions that are being written count", () => {
    const limiter = new ConcurrencyLimiter(100);
    const release = limiter.reserve("org_a", "dep_a", 30);
    expect(limiter.room("org_a", "dep_a", 40)).toBe(10);
    expect(limiter.room("org_b", "dep_b", free)).toBe(70);
    release(20);
    expect(limiter.room("org_a", "dep_a", 40)).toBe(40);
    expect(limiter.room("org_b", "dep_b", free)).toBe(80);
  });
});
