import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "../../../../project/json.ts";
import { compileMapping } from "../../../../project/mapping.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";

const paths = {
  action: "action",
  number: "number",
  "pull_request.title": "title",
  "pull_request.user.login": "author",
  "pull_request.head.ref": "branch",
  "pull_request.labels[0].name": "label",
  "repository.full_name": "repository",
  "sender.login": "sender",
};
const applied = 50_000;
const other = "hand-written code";

/** An event of realistic size, parsed before. */
export async function run({ rounds }: Options): Promise<Row[]> {
  const file = new URL("../../fixtures/pull-request.json", import.meta.url);
  const event = JSON.parse(readFileSync(file, "utf8")) as JsonObject & PullRequestEvent;
  const mapping = compileMapping(Object.entries(paths).map(([path, parameter]) => ({ path, parameter })));
  assert.deepEqual(mapping.apply(event), { input: byHand(event), unmapped: [] });
  assert.equal(Object.values(mapping.apply(event).input).length, 8);
  const programs = await interleave(
    {
      svc: async () => perSecond(() => mapping.apply(event).input),
      [other]: async () => perSecond(() => byHand(event)),
    },
    { rounds: rounds * 5, warmUps: 3 },
  );
  const traced = await interleave(
    { svc: async () => perSecond(() => ({ ...mapping.trace(event)[7] }) as unknown as JsonObject) },
    { rounds: rounds * 5, warmUps: 3 },
  );
  return [
    {
      what: "eight paths of a pull_request event",
      unit: "events per second of processor time",
      programs,
      goals: [{ program: "svc", of: "median", atLeast: 1_000_000 }],
    },
    {
      what: "explanation of the eight paths, which a delivery keeps",
      unit: "events per second of processor time",
      programs: traced,
    },
  ];
}

/** Events per second of processor time, which other programs disturb less than elapsed time. */
function perSecond(map: () => JsonObject): number {
  let found = 0;
  const before = process.cpuUsage();
  for (let n = 0; n < applied; n++) if (map().sender !== null) found++;
  const { user, system } = process.cpuUsage(before);
  assert.equal(found, applied);
  return applied / ((user + system) / 1e6);
}

/** The part of the event that the hand-written code reads. */
interface PullRequestEvent {
  action: string;
  number: number;
  pull_request: {
    title: string;
    user: { login: string };
    head: { ref: string };
    labels: { name: string }[];
  };
  repository: { full_name: string };
  sender: { login: string };
}

/** Like a handler that trusts its input. */
function byHand(event: PullRequestEvent): Record<string, JsonValue> {
  return {
    action: event.action,
    number: event.number,
    title: event.pull_request.title,
    author: event.pull_request.user.login,
    branch: event.pull_request.head.ref,
    label: event.pull_request.labels[0]?.name ?? null,
    repository: event.repository.full_name,
    sender: event.sender.login,
  };
}
