/** Responses that users' code sets with `ctx.respond`. */
import type { AttemptResponse, Outcome } from "../../../server/executions/pool/index.ts";
import type { Lab } from "../lab.ts";
import { poolScenario, type Scenario } from "../scenario.ts";

type Found = Record<string, { outcome: Outcome; response: AttemptResponse | undefined }>;

async function respond(lab: Lab, input: { way: string }): Promise<Found[string]> {
  const attempt = lab.attempt("respond", input);
  const outcome = await lab.pools.run(attempt);
  return { outcome, response: lab.responses.get(attempt.executionId) };
}

const text = (body: string): AttemptResponse => {
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body };
};

const ways: Record<string, { response: AttemptResponse; ends: object }> = {
  text: { response: text("hello"), ends: { type: "succeeded", output: "null" } },
  json: {
    response: {
      status: 201,
      headers: { "x-kind": "a", "content-type": "application/json" },
      body: '{"ok":true}',
    },
    ends: { type: "succeeded" },
  },
  empty: { response: { status: 204, headers: {}, body: "" }, ends: { type: "succeeded" } },
  twice: {
    response: text("first"),
    ends: { type: "failed", error: { message: "Cannot respond: the execution has responded before" } },
  },
  twiceCaught: { response: text("first"), ends: { type: "succeeded" } },
  afterInvalid: { response: text("valid"), ends: { type: "succeeded" } },
  reentrant: { response: text("inner"), ends: { type: "succeeded" } },
  throws: { response: text("before"), ends: { type: "failed", error: { message: "after" } } },
};

export const responseScenarios: Scenario[] = [
  poolScenario(
    "the first response of an attempt is reported before its outcome",
    async (lab) => {
      const found: Found = {};
      for (const way of Object.keys(ways)) found[way] = await respond(lab, { way });
      return found;
    },
    (found, expect) => {
      for (const [way, { response, ends }] of Object.entries(ways)) {
        expect(found[way]?.response, way).toEqual(response);
        expect(found[way]?.outcome, way).toMatchObject(ends);
      }
    },
  ),
];
