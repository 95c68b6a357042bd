/** Integers of JSON that a double rounds are refused with their place, the same over REST and Connect. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { deploy } from "../../support/project.ts";
import { call, reasonOf } from "../../support/rest.ts";
import type { ErrorJson, ExecutionJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const runPath = "/svc.v1.ExecutionService/RunExecution";
const accepted = [
  "9007199254740991",
  "9007199254740994",
  "1e20",
  "100000000000000000000",
  "0.1234567890123456789",
];
const refused = ["9007199254740993", "-9007199254740993", "100000000000000000001", "1234567890123456789012"];

onRuntime("node", "integers of inputs", {}, (server) => {
  beforeAll(() => deploy(server, { agents: { echo: "export default (input) => input;" } }));

  const encodings: Record<string, (body: Buffer) => Uint8Array<ArrayBufferLike>> = {
    identity: (body) => body,
    gzip: gzipSync,
    br: brotliCompressSync,
  };

  function run(path: string, literal: string, encoding = "identity") {
    const json = `{"name":"echo","input":{"text":"\\"12345678901234567890","list":[1,${literal}]}}`;
    const body = new Uint8Array(encodings[encoding]?.(Buffer.from(json)) ?? []);
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    return call<ExecutionJson & ErrorJson>(server, "POST", path, { body, headers });
  }

  describe.each(accepted)("%s", (literal) => {
    test.each([["/api/v1/executions"], [runPath], [runPath, "gzip"]])(
      "is passed on by %s %s",
      async (...way) => {
        const [path, encoding] = way;
        const { json, text } = await run(path ?? "", literal, encoding);
        expect(json.input, text).toMatchObject({ list: [1, Number(literal)] });
      },
    );
  });

  describe.each(refused)("%s", (literal) => {
    test.each([["/api/v1/executions"], [runPath], [runPath, "gzip"], [runPath, "br"]])(
      "is refused by %s %s",
      async (...way) => {
        const [path, encoding] = way;
        const { status, json } = await run(path ?? "", literal, encoding);
        expect([status, json.code, reasonOf(json)]).toEqual([400, "invalid_argument", "NUMBER_OUT_OF_RANGE"]);
        expect(json.message).toContain("The integer at input.list[1] is beyond 2^53 - 1");
      },
    );
  });

  test("a body that arrives in pieces is checked as a whole", async () => {
    const pieces = ['{"name":"echo","input":{"id":90071992', "54740993}}"];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const { status, json } = await call(server, "POST", runPath, { body });
    expect([status, reasonOf(json)]).toEqual([400, "NUMBER_OUT_OF_RANGE"]);
  });

  test("text that is no JSON is refused as such", async () => {
    const { status, json } = await call(server, "POST", runPath, { body: '{"name":"1234567890123456789' });
    expect([status, reasonOf(json)]).toEqual([400, "INVALID_MESSAGE"]);
  });
});
