/** Calls any method of the contract by its descriptor, over RPC and over each of its REST paths. */
import { create, type DescMethod, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { type Rule, rulesOf } from "../../server/routes/rest/http-rule.ts";
import { call } from "../support/rest.ts";
import type { TestServer } from "../support/server.ts";

/** A result in terms that RPC and REST share. */
export interface Result {
  /** `ok`, or the code of the error, for example `not_found`. */
  code: string;
  /** The message of the error; empty on success. */
  message: string;
  /** The whole response. */
  text: string;
}

/** Request fields by their JSON names, for example `deployment_id`. */
export type Fields = JsonObject;

/** @param key - null to send none */
async function callRpc(
  server: TestServer,
  method: DescMethod,
  fields: Fields,
  key: string | null,
): Promise<Result> {
  const transport = createConnectTransport({
    baseUrl: server.url,
    httpVersion: "1.1",
    useBinaryFormat: false,
  });
  const header = new Headers(key === null ? {} : { authorization: `Bearer ${key}` });
  const input = fromJson(method.input, fields);
  try {
    const texts: string[] = [];
    if (method.methodKind === "unary") {
      const { message } = await transport.unary(
        method as DescMethod & { methodKind: "unary" },
        undefined,
        undefined,
        header,
        create(method.input, input),
      );
      texts.push(JSON.stringify(toJson(method.output, message)));
    } else {
      const inputs = (async function* () {
        yield create(method.input, input);
      })();
      const { message } = await transport.stream(
        method as DescMethod & { methodKind: "server_streaming" },
        undefined,
        undefined,
        header,
        inputs,
      );
      for await (const one of message) texts.push(JSON.stringify(toJson(method.output, one)));
    }
    return { code: "ok", message: "", text: texts.join("\n") };
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    const name = Code[code].replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());
    return { code: name, message: rawMessage, text: rawMessage };
  }
}

async function callRest(server: TestServer, rule: Rule, fields: Fields, key: string | null): Promise<Result> {
  const rest = { ...fields };
  const segments = rule.segments.map((segment) => {
    if ("literal" in segment) return segment.literal;
    if ("wildcard" in segment) return segment.wildcard;
    const value = rest[segment.field] ?? "none";
    delete rest[segment.field];
    return encodeURIComponent(String(value));
  });
  const path = `/${segments.join("/")}`;
  const named = rule.body === "*" || rule.body === "" ? rest : rest[rule.body];
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  const answer =
    rule.body === ""
      ? await call(server, rule.verb, `${path}?${query}`, { key })
      : await call(server, rule.verb, path, { key, json: named ?? {} });
  if (answer.status < 400) return { code: "ok", message: "", text: answer.text };
  return { code: answer.json.code, message: answer.json.message, text: answer.text };
}

function textOf(segment: Rule["segments"][number]): string {
  if ("field" in segment) return `{${segment.field}}`;
  return "literal" in segment ? segment.literal : segment.wildcard;
}

/** Every way to call a method. */
export function waysOf(
  server: TestServer,
  method: DescMethod,
): { name: string; call: (fields: Fields, key: string | null) => Promise<Result> }[] {
  const rules = rulesOf(method.parent).filter((rule) => rule.method === method);
  return [
    { name: "RPC", call: (fields, key) => callRpc(server, method, fields, key) },
    ...rules.map((rule) => ({
      name: `${rule.verb} /${rule.segments.map(textOf).join("/")}`,
      call: (fields: Fields, key: string | null) => callRest(server, rule, fields, key),
    })),
  ];
}
