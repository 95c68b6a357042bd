/** `svc/client` in a browser or an edge runtime: no modules of Node, a small bundle, and only web APIs. */
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { loadedBy } from "../architecture/graph.ts";
import { deploy } from "../support/project.ts";
import { root } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";

const server = useServer("bun");
const maxGzipBytes = 45 * 1024;
let code = "";
let inputs: string[] = [];

beforeAll(async () => {
  const result = await build({
    stdin: {
      contents: 'import { createClient } from "./client/index.ts"; globalThis.createClient = createClient;',
      resolveDir: root,
    },
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  code = result.outputFiles[0]?.text ?? "";
  inputs = Object.keys(result.metafile.inputs);
});

test("imports Connect, protobuf and the contract only", () => {
  const loaded = [...loadedBy(["client/index.ts"])];
  expect(
    loaded.filter((file) => !/^(client|proto)\/|^@connectrpc\/|^@bufbuild\/protobuf/.test(file)),
  ).toEqual([]);
  const packages = inputs.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? "");
  expect(new Set(packages.filter(Boolean))).toEqual(
    new Set(["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"]),
  );
  expect(code).not.toMatch(/["']node:/);
});

test("is at most 45 KiB, minified and compressed", () => {
  const bytes = gzipSync(code, { level: 9 }).byteLength;
  console.info(`svc/client: ${code.length} bytes minified, ${bytes} with gzip`);
  expect(bytes).toBeLessThan(maxGzipBytes);
});

test("needs only web APIs", async () => {
  await deploy(server, {
    agents: { echo: "export default (input) => { console.log('x'); return input; };" },
  });
  const { fetch, Request, Response, Headers, URL, AbortController, AbortSignal, TextEncoder, TextDecoder } =
    globalThis;
  const { setTimeout, clearTimeout, ReadableStream, TransformStream, atob, btoa } = globalThis;
  const web = {
    ...{ fetch, Request, Response, Headers, URL, AbortController, AbortSignal, TextEncoder, TextDecoder },
    ...{ setTimeout, clearTimeout, ReadableStream, TransformStream, atob, btoa },
  };
  const script = `${code}
    const client = createClient(options);
    (async () => {
      const output = await client.run("echo", { a: [1] });
      const lines = [];
      for await (const { message } of client.logs({ name: "echo" })) lines.push(message);
      return JSON.stringify({ output, lines, globals: [typeof process, typeof Buffer, typeof require] });
    })()`;
  const options = { baseUrl: server.url, apiKey: server.apiKey };
  const { output, lines, globals } = JSON.parse(await runInNewContext(script, { ...web, options }));
  expect(output).toEqual({ a: [1] });
  expect(lines).toContain("x");
  expect(globals).toEqual(["undefined", "undefined", "undefined"]);
});
