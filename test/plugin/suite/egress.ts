import assert from "node:assert/strict";
import { RestPlugin, type RestPluginOptions } from "../../../plugin/index.ts";
import { type Case, type Context, type Echo, failure } from "../context.ts";

/** Addresses that the guard refuses, with a word of the error. */
const refusedAddresses: [string, string][] = [
  ["127.0.0.1", "loopback"],
  ["127.0.0.2", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "this network"],
  ["10.0.0.1", "private"],
  ["10.255.255.255", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "carrier"],
  ["100.100.100.200", "metadata"],
  ["169.254.0.1", "link-local"],
  ["169.254.169.254", "metadata"],
  ["169.254.170.2", "metadata"],
  ["168.63.129.16", "metadata"],
  ["192.0.0.192", "metadata"],
  ["192.0.0.8", "protocol"],
  ["192.0.2.1", "documentation"],
  ["198.18.0.1", "benchmarking"],
  ["198.51.100.1", "documentation"],
  ["203.0.113.1", "documentation"],
  ["224.0.0.1", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::ffff:127.0.0.1", "IPv4-mapped"],
  ["::ffff:7f00:1", "IPv4-mapped"],
  ["::ffff:8.8.8.8", "IPv4-mapped"],
  ["::ffff:169.254.169.254", "metadata"],
  ["::127.0.0.1", "unassigned"],
  ["64:ff9b::127.0.0.1", "loopback"],
  ["64:ff9b::a00:1", "private"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["64:ff9b:1::1", "NAT64"],
  ["2002:7f00:1::", "6to4"],
  ["2002:a9fe:a9fe::1", "metadata"],
  ["2001::1", "protocol"],
  ["2001:db8::1", "documentation"],
  ["3fff::1", "documentation"],
  ["fc00::1", "unique-local"],
  ["fd00:ec2::254", "metadata"],
  ["fd12:3456::1", "unique-local"],
  ["fe80::1", "link-local"],
  ["fe80::1%lo", "link-local"],
  ["fec0::1", "unassigned"],
  ["ff02::1", "multicast"],
  ["5f00::1", "unassigned"],
  ["4000::1", "unassigned"],
  ["", "not an IP address"],
  ["localhost", "not an IP address"],
  ["127.1", "not an IP address"],
  ["0177.0.0.1", "not an IP address"],
  ["1.2.3.4.5", "not an IP address"],
  ["::1::", "not an IP address"],
];

/** Spellings of a few addresses as hosts of a URL. */
const refusedHosts = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "0",
  "0.0.0.0",
  "10.1",
  "192.168.257",
  "169.254.169.254",
  "0xa9fea9fe",
  "2852039166",
  "0251.0376.0251.0376",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::7f00:1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
];

/** Hosts of metadata services, refused even as base URL. */
const metadataHosts = [
  "169.254.169.254",
  "0xa9fea9fe",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "[::ffff:169.254.169.254]",
  "[64:ff9b::169.254.169.254]",
  "[2002:a9fe:a9fe::]",
];

export const egressCases: Case[] = [
  {
    name: `${refusedAddresses.length} addresses of a public name are refused before a connection is opened`,
    async run({ mainPort, log }) {
      for (const [address, kind] of refusedAddresses) {
        await using api = new RestPlugin({
          baseUrl: `http://api.test:${mainPort}/v1`,
          egressGuard: { code: true, resolve: async () => ["93.184.216.34", address] },
        });
        for (const action of [
          () => api.get("/echo"),
          () => api.post("/echo", {}),
          async () => api.tools[0]?.execute({ endpoint: "/echo" }),
        ]) {
          const error = await failure("egress", action);
          assert.ok(error.message.includes(kind), `${address}: ${error.message}`);
          assert.match(error.message, /^Cannot connect to api\.test \(/);
        }
      }
      assert.deepEqual(await log(), { requests: [], connections: 0 });
    },
  },
  {
    name: "refuses a redirect to an address that is not public, in every spelling",
    async run({ plugin, otherOrigin, log }) {
      const { port } = new URL(otherOrigin);
      const api = plugin({ redirectOrigins: "any", egressGuard: true });
      for (const host of refusedHosts) {
        const to = `http://${host}:${port}/v1/echo`;
        const error = await failure("egress", () => api.get("/redirect", { params: { to } }));
        assert.match(error.message, /public addresses only/);
      }
      const name = `http://localhost:${port}/v1/echo`;
      await failure("egress", () => api.get("/redirect", { params: { to: name } }));
      const { requests } = await log();
      assert.ok(requests.every(({ server }) => server === "main"));
    },
  },
  {
    name: "guards tools and not code by default, and both are configurable",
    async run(context) {
      const rows: [RestPluginOptions["egressGuard"], boolean, boolean][] = [
        [undefined, false, true],
        [true, true, true],
        [false, false, false],
        [{ code: true }, true, true],
        [{ tools: false }, false, false],
        [{ code: true, tools: false }, true, false],
      ];
      // A redirect shows whether the guard applies, without a name server.
      const to = `${context.otherOrigin}/v1/echo`;
      for (const [egressGuard, code, tools] of rows) {
        const api = context.plugin({
          redirectOrigins: "any",
          ...(egressGuard !== undefined && { egressGuard }),
        });
        const viaCode = (): Promise<unknown> => api.get("/redirect", { params: { to } });
        const viaTool = async (): Promise<unknown> =>
          api.tools[0]?.execute({ endpoint: "/redirect", params: { to } });
        for (const [guarded, action] of [
          [code, viaCode],
          [tools, viaTool],
        ] as const) {
          if (guarded) await failure("egress", action);
          else assert.equal(((await action()) as Echo).url, "/v1/echo");
        }
      }
    },
  },
  {
    name: "allows a private address or localhost as base URL, but never a metadata address",
    async run({ mainPort }) {
      for (const host of ["127.0.0.1", "127.0.0.3", "localhost", "127.1", "0x7f000001", "LOCALHOST"]) {
        await using api = new RestPlugin({ baseUrl: `http://${host}:${mainPort}/v1`, egressGuard: true });
        assert.equal((await api.get<Echo>("/hops?left=2")).url, "/v1/hops?left=0");
      }
      for (const host of metadataHosts) {
        await using api = new RestPlugin({ baseUrl: `http://${host}/`, egressGuard: true, timeout: 5 });
        assert.match((await failure("egress", () => api.get("/latest"))).message, /metadata address/);
      }
    },
  },
  {
    name: "connects to the checked address when the name resolves differently afterwards",
    async run(context) {
      const lookups = [["127.0.0.2"], ["127.0.0.1"]];
      const names = resolver(() => lookups.shift() ?? ["127.0.0.1"]);
      const api = guarded(context, `http://api.test:${context.mainPort}/v1`, names.resolve);
      const first = await api.get<Echo>("/echo");
      assert.equal(first.headers.host, `api.test:${context.mainPort}`);
      assert.deepEqual(names.queries, ["api.test"]);
      await failure("egress", () => api.post("/echo", {}));
      assert.deepEqual(names.queries, ["api.test", "api.test"]);
      const { requests } = await context.log();
      assert.deepEqual(
        requests.map(({ localAddress }) => localAddress),
        ["127.0.0.2"],
      );
    },
  },
  {
    name: "checks every redirect",
    async run(context) {
      const { mainPort, otherPort } = context;
      const names = resolver((name) =>
        name === "good.test" || name === "api.test" ? ["127.0.0.2"] : ["127.0.0.1"],
      );
      const api = guarded(context, `http://api.test:${mainPort}/v1`, names.resolve);
      const via = (last: string): string =>
        `http://good.test:${otherPort}/v1/redirect?to=${encodeURIComponent(`http://${last}:${otherPort}/v1/echo`)}`;
      const got = await api.get<Echo>("/redirect", { params: { to: via("good.test") } });
      assert.equal(got.headers.host, `good.test:${otherPort}`);
      await failure("egress", () => api.get("/redirect", { params: { to: via("bad.test") } }));
      const { requests } = await context.log();
      assert.ok(requests.every(({ localAddress }) => localAddress === "127.0.0.2"));
      assert.ok(names.queries.includes("bad.test"));
    },
  },
  {
    name: "verifies the certificate of the host name and sends the name by SNI",
    async run(context) {
      const { securePort, log } = context;
      const names = resolver(() => ["127.0.0.2"]);
      const api = guarded(context, `https://api.test:${securePort}/v1`, names.resolve);
      for (let round = 0; round < 2; round++) {
        assert.equal((await api.get<Echo>("/echo")).headers.host, `api.test:${securePort}`);
        await api.post("/echo", { round });
      }
      const wrong = guarded(context, `https://wrong.test:${securePort}/v1`, names.resolve);
      await failure("network", () => wrong.get("/echo"));
      const { requests } = await log();
      assert.equal(requests.length, 4);
      assert.ok(
        requests.every(
          ({ serverName, localAddress }) => serverName === "api.test" && localAddress === "127.0.0.2",
        ),
      );
    },
  },
  {
    name: "reports a name without addresses and a failing resolver as network errors",
    async run(context) {
      const none = guarded(context, "http://api.test/v1", async () => []);
      await failure("network", () => none.get("/echo"));
      const broken = guarded(context, "http://api.test/v1", async () =>
        Promise.reject(new Error("no name server")),
      );
      assert.match((await failure("network", () => broken.get("/echo"))).message, /no name server/);
      const slow = guarded(context, "http://api.test/v1", () => new Promise(() => {}));
      await failure("timeout", () => slow.get("/echo", { timeout: 0.1 }));
    },
  },
  {
    name: "refuses options of fetch for guarded requests",
    async run({ plugin, log }) {
      for (const name of ["dispatcher", "agent", "client", "proxy", "tls", "integrity"]) {
        const api = plugin({ [name]: {} });
        const error = await failure("invalid_argument", async () =>
          api.tools[0]?.execute({ endpoint: "/echo" }),
        );
        assert.ok(error.message.includes(name));
      }
      assert.equal((await log()).connections, 0);
    },
  },
];

function guarded(
  context: Context,
  baseUrl: string,
  resolve: (hostname: string) => Promise<string[]>,
): RestPlugin {
  return context.plugin({
    baseUrl,
    redirectOrigins: "any",
    egressGuard: { code: true, allowAddresses: ["127.0.0.2/32"], resolve },
  });
}

function resolver(lookup: (hostname: string) => string[]): {
  queries: string[];
  resolve: (hostname: string) => Promise<string[]>;
} {
  const queries: string[] = [];
  return {
    queries,
    async resolve(hostname) {
      queries.push(hostname);
      return lookup(hostname);
    },
  };
}
