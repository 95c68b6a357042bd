import { describe, expect, test } from "vitest";
import { edgesBy, files, findCycle, type Import, imports, isOwn, loadedBy } from "./graph.ts";

const own = imports.filter(isOwn);
const inServer = own.filter(({ from, to }) => from.startsWith("server/") && to.startsWith("server/"));
const text = ({ from, to, kind }: Import) => `${from} → ${to} (${kind})`;
const folderOf = (file: string) => file.split("/")[0] ?? "";

test("resolves every import", () => {
  expect(files.length).toBeGreaterThan(200);
  expect(imports.length).toBeGreaterThan(1000);
  expect(own.filter(({ to }) => !files.includes(to)).map(text)).toEqual([]);
});

describe("folders", () => {
  /** The other folders that each folder may import. */
  const below: Record<string, readonly string[]> = {
    proto: [],
    project: ["proto"],
    server: ["project", "proto"],
    cli: ["project", "proto", "server"],
    client: ["proto"],
    plugin: [],
  };

  test("import only the folders below them", () => {
    const upward = own.filter(({ from, to }) => {
      const [a, b] = [folderOf(from), folderOf(to)];
      return a !== b && !below[a]?.includes(b);
    });
    expect(upward.map(text)).toEqual([]);
  });

  test("cli loads the server lazily, in serve, dev, push, test and admin only", () => {
    const entries = files.filter((file) => file === "cli/program.ts" || file.startsWith("cli/commands/"));
    expect(entries.length).toBeGreaterThan(20);
    for (const entry of entries) {
      const server = [...loadedBy([entry])].filter((file) => file.startsWith("server/"));
      expect(server, `server files that ${entry} loads statically`).toEqual([]);
    }
    const doors = own.filter(
      ({ from, to, kind }) => from.startsWith("cli/") && to.startsWith("server/") && kind !== "type",
    );
    expect([...new Set(doors.map(({ from }) => from))].toSorted()).toEqual([
      "cli/api/admin-store.ts",
      "cli/commands/serve.ts",
      "cli/local/pool.ts",
      "cli/local/service.ts",
    ]);
  });

  test("svc --help loads neither Connect nor the contract", () => {
    const loaded = [...loadedBy(["cli/program.ts", "cli/app/help.ts"])];
    expect(loaded.filter((file) => /^(proto\/|@connectrpc|@bufbuild)/.test(file))).toEqual([]);
  });

  test("plugin imports no npm package but ofetch, which it loads lazily", () => {
    const outside = imports.filter(
      (one) => one.from.startsWith("plugin/") && !isOwn(one) && !one.to.startsWith("node:"),
    );
    expect(new Set(outside.map(({ to, kind }) => `${to} ${kind}`))).toEqual(
      new Set(["ofetch type", "ofetch lazy"]),
    );
  });

  test("client imports Connect and protobuf only", () => {
    const outside = imports.filter((one) => one.from.startsWith("client/") && !isOwn(one));
    const packages = outside.map(({ to }) => to.split("/").slice(0, 2).join("/"));
    expect(new Set(packages)).toEqual(
      new Set(["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"]),
    );
  });

  test("the module 'svc' imports nothing", () => {
    const runtime = imports.filter(({ from, kind }) => from === "project/authoring.ts" && kind !== "type");
    expect(runtime.map(text)).toEqual([]);
  });
});

describe("server", () => {
  /** From the bottom up. A part may import lower layers, and parts of its own layer without a cycle. */
  const layers: readonly (readonly string[])[] = [
    ["errors", "config", "runtime", "ids", "keys", "version", "senders", "lru", "interrupt", "telemetry"],
    [
      "store",
      "storage",
      "executions",
      "schedules",
      "webhooks",
      "secrets",
      "auth",
      "first-run",
      "counters",
      "housekeeper",
      "metrics",
      "scratch",
      "tls",
    ],
    ["services", "openapi"],
    ["routes", "logs"],
    ["listener"],
    ["server", "worker", "drivers", "admin"],
    ["main"],
  ];
  const partOf = (file: string) => file.split("/")[1]?.replace(/\.ts$/, "") ?? "";
  const layerOf = (file: string) => layers.findIndex((layer) => layer.includes(partOf(file)));

  test("assigns each part to a layer", () => {
    expect(files.filter((file) => file.startsWith("server/") && layerOf(file) < 0)).toEqual([]);
  });

  test("imports only the same or lower layers", () => {
    const upward = inServer.filter(({ from, to }) => layerOf(to) > layerOf(from));
    expect(upward.map(text)).toEqual([]);
  });

  test("has no import cycle between parts", () => {
    expect(findCycle(edgesBy(partOf, inServer))).toBeNull();
  });

  test("imports concrete drivers in composition roots only", () => {
    const drivers = [
      "server/store/sqlite/index.ts",
      "server/store/postgres/index.ts",
      "server/storage/filesystem.ts",
      "server/storage/s3/index.ts",
    ];
    const namers = inServer.filter(({ to }) => drivers.includes(to)).map(({ from }) => from);
    expect([...new Set(namers)].toSorted()).toEqual(["server/admin/store.ts", "server/drivers.ts"]);
  });

  test("loads the S3 driver and aws4fetch only when they are used", () => {
    const loaded = [...loadedBy(["server/main.ts"])];
    expect(loaded.filter((file) => file === "aws4fetch" || file.startsWith("server/storage/s3/"))).toEqual(
      [],
    );
    const signing = imports.filter(({ to }) => to === "aws4fetch");
    expect(signing.map(text)).toHaveLength(1);
  });

  test("imports builtins of Bun and Deno nowhere", () => {
    const asking = imports.filter(({ from, to }) => from.startsWith("server/") && /^(bun|deno)\b/.test(to));
    expect(asking.map(text)).toEqual([]);
  });

  test("a runner loads its own files and server/runtime.ts only", () => {
    const loaded = [...loadedBy(["server/executions/runner/main.ts"])];
    const foreign = loaded.filter(
      (file) => !file.startsWith("server/executions/runner/") && !file.startsWith("node:"),
    );
    expect(foreign).toEqual(["server/runtime.ts"]);
    expect(loaded).not.toContain("node:sqlite");
    const lazy = own.filter(
      ({ from, kind }) => kind === "lazy" && from.startsWith("server/executions/runner/"),
    );
    expect(lazy.map(text)).toEqual([]);
  });
});

describe("files", () => {
  test("have no import cycle", () => {
    const edges = edgesBy(
      (file) => file,
      own.filter(({ kind }) => kind !== "lazy"),
    );
    expect(findCycle(edges)).toBeNull();
  });
});
