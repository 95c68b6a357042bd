import { describe, expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { formatProblem, type Problem } from "../../project/problem.ts";

const files = new Set(["agents/triage.ts", "agents/notify/index.mjs", "workflows/nightly.js"]);

function parse(
  text: string,
  names: ReadonlySet<string> | undefined = files,
): ReturnType<typeof parseProjectFile> {
  return parseProjectFile(Buffer.from(text), names === undefined ? {} : { files: names });
}

/** The problems of a text as `LINE:COLUMN: message`. */
function complaints(text: string, names: ReadonlySet<string> | undefined = files): string[] {
  return parse(text, names).problems.map(
    ({ line, column, message }: Problem) => `${line}:${column}: ${message}`,
  );
}

const head = 'name: demo\nversion: "1.0"\n';

const full = `# everything that a project file can say
name: demo
version: "1.0"
x-note: [ignored]
network: [API.github.com, "*.stripe.com", "db.example.com:5432"]
agents:
  - name: triage
    display_name: Triage of mail
    description: |
      Sorts mail.

      Reads "subject".
    expose_as_tool: true
    timeout: 12.5
    enable_retry: true
    retry_policy: { max_retries: 5, strategy: fixed, initial_delay: 0.5, max_delay: 60 }
    webhooks:
      - slug: new_mail
        field_mapping:
          "2": second
          user.email: email
          items[0].sku: sku
          "1": first
        signature: { scheme: github, secret: GITHUB_SECRET }
        idempotency: { header: X-Delivery }
        rate_limit: { requests_per_second: 2.5, burst: 7 }
      - slug: other-mail
        signature:
          scheme: hmac
          secret: [NEW, OLD]
          header: X-Signature
          algorithm: sha512
          encoding: base64
          prefix: "v1="
          timestamp_header: X-Time
  - name: notify
workflows:
  - { name: nightly, enable_retry: true }
schedules:
  agents:
    triage: { cron: "*/5 * * * *", timezone: Europe/Berlin, input: { deep: [1, { a: null }] }, overlap: queue }
    notify: { cron: "0 7 * * mon", enabled: false, catch_up: 3600, overlap: allow }
  workflows:
    nightly: { cron: "0 2 * * *" }
`;

describe("accepts a file", () => {
  test("with every key", () => {
    const { definition, problems } = parse(full);
    expect(problems).toEqual([]);
    expect(definition).toEqual({
      name: "demo",
      version: "1.0",
      network: ["api.github.com", "*.stripe.com", "db.example.com:5432"],
      agents: [
        {
          kind: "agent",
          name: "triage",
          displayName: "Triage of mail",
          description: 'Sorts mail.\n\nReads "subject".',
          exposeAsTool: true,
          module: "agents/triage.ts",
          timeoutSeconds: 12.5,
          retry: { maxRetries: 5, strategy: "fixed", initialDelaySeconds: 0.5, maxDelaySeconds: 60 },
          webhooks: [
            {
              slug: "new_mail",
              fieldMapping: [
                // In the order of the file. An object would have the digits first.
                { path: "2", parameter: "second" },
                { path: "user.email", parameter: "email" },
                { path: "items[0].sku", parameter: "sku" },
                { path: "1", parameter: "first" },
              ],
              signature: {
                scheme: "github",
                secrets: ["GITHUB_SECRET"],
                header: null,
                algorithm: "sha256",
                encoding: "hex",
                prefix: "",
                timestampHeader: null,
              },
              idempotency: { header: "x-delivery" },
              rateLimit: { requestsPerSecond: 2.5, burst: 7 },
            },
            {
              slug: "other-mail",
              fieldMapping: [],
              signature: {
                scheme: "hmac",
                secrets: ["NEW", "OLD"],
                header: "x-signature",
                algorithm: "sha512",
                encoding: "base64",
                prefix: "v1=",
                timestampHeader: "x-time",
              },
              idempotency: null,
              rateLimit: null,
            },
          ],
        },
        {
          kind: "agent",
          name: "notify",
          displayName: "notify",
          module: "agents/notify/index.mjs",
          timeoutSeconds: 300,
          retry: null,
          webhooks: [],
        },
      ],
      workflows: [
        {
          kind: "workflow",
          name: "nightly",
          displayName: "nightly",
          module: "workflows/nightly.js",
          timeoutSeconds: 300,
          retry: { maxRetries: 3, strategy: "exponential", initialDelaySeconds: 1, maxDelaySeconds: 300 },
          webhooks: [],
        },
      ],
      schedules: [
        {
          kind: "agent",
          name: "triage",
          cron: "*/5 * * * *",
          timezone: "Europe/Berlin",
          enabled: true,
          input: { deep: [1, { a: null }] },
          overlap: "queue",
          catchUpSeconds: 0,
        },
        {
          kind: "agent",
          name: "notify",
          cron: "0 7 * * mon",
          timezone: "UTC",
          enabled: false,
          input: {},
          overlap: "allow",
          catchUpSeconds: 3600,
        },
        {
          kind: "workflow",
          name: "nightly",
          cron: "0 2 * * *",
          timezone: "UTC",
          enabled: true,
          input: {},
          overlap: "skip",
          catchUpSeconds: 0,
        },
      ],
    });
  });

  test("with only required keys, an empty group, a byte order mark and Windows line endings", () => {
    const { definition } = parse('\ufeffname: demo\r\nversion: "1"\r\nagents:\r\nschedules:\r\n');
    expect(definition).toEqual({
      name: "demo",
      version: "1",
      agents: [],
      workflows: [],
      schedules: [],
      network: null,
    });
  });

  test("with aliases of whole values", () => {
    const text = `${head}agents:\n  - &one { name: triage, enable_retry: true, retry_policy: &p { max_retries: 9 } }
  - { name: notify, enable_retry: true, retry_policy: *p }\n`;
    expect(parse(text).definition?.agents.map(({ retry }) => retry?.maxRetries)).toEqual([9, 9]);
  });

  test("with prototype keys in the input of a schedule", () => {
    const text = `${head}agents: [{ name: triage }]\nschedules: { agents: { triage: { cron: "* * * * *", input: { __proto__: { a: 1 } } } } }`;
    const input = parse(text).definition?.schedules[0]?.input ?? {};
    expect(Object.keys(input)).toEqual(["__proto__"]);
    expect(JSON.stringify(input)).toBe('{"__proto__":{"a":1}}');
  });

  test("finds modules in the documented order", () => {
    const find = (...paths: string[]): string | undefined =>
      parse(`${head}agents: [{ name: a }]`, new Set(paths)).definition?.agents[0]?.module;
    expect(find("agents/a/index.mjs", "agents/a.mjs", "agents/a.js", "agents/a.mts", "agents/a.ts")).toBe(
      "agents/a.ts",
    );
    expect(find("agents/a/index.mjs", "agents/a.mjs")).toBe("agents/a.mjs");
    expect(find("agents/a/index.mjs", "agents/a/index.ts")).toBe("agents/a/index.ts");
    expect(find("agents/a.cjs", "workflows/a.ts", "agents/A.ts")).toBeUndefined();
  });
});

/** The text of a file, and its problems. */
const mistakes: [what: string, text: string, expected: (string | RegExp)[]][] = [
  ["an empty file", "", ["1:1: the project file is empty: it needs name and version"]],
  ["a file of comments", "# none\n", ["1:1: the project file is empty: it needs name and version"]],
  ["a list", "- a\n", ["1:1: the project file must be a map, not a list"]],
  ["no name, no version", "agents: []\n", ["1:1: name is missing", "1:1: version is missing"]],
  [
    "empty values",
    "name:\nversion: ''\n",
    ["1:6: name must not be empty", "2:10: version must not be empty"],
  ],
  [
    "a number as version",
    "name: a\nversion: 1.10\n",
    ['2:10: version must be text, not the number 1.10: write "1.10"'],
  ],
  [
    "a boolean as version",
    "name: a\nversion: true\n",
    [/^2:10: version must be text, not the truth value true/],
  ],
  [
    "unknown keys",
    `${head}agnets: []\nzzz: 1\n`,
    ['3:1: unknown key "agnets" (did you mean "agents"?)', '4:1: unknown key "zzz"'],
  ],
  [
    "prototype keys",
    `${head}__proto__: {}\nconstructor: 1\n`,
    ['3:1: unknown key "__proto__"', '4:1: unknown key "constructor"'],
  ],
  ["agents as a map", `${head}agents: { triage: {} }\n`, ["3:9: agents must be a list, not a map"]],
  ["text as an agent", `${head}agents: [triage]\n`, ['3:10: agents[0] must be a map, not the text "triage"']],
  ["an empty agent", `${head}agents:\n  -\n  - name: triage\n`, [/agents\[0\] must be a map, not nothing/]],
  [
    "a missing module",
    `${head}agents: [{ name: gone }]\n`,
    [/^3:18: agent "gone" has no module: expected agents\/gone\.\{ts,mts,js,mjs\}/],
  ],
  [
    "an invalid name",
    `${head}agents: [{ name: -a }, { name: "a b" }, { name: 7 }]\n`,
    [/^3:18: .*not "-a"/, /^3:32: .*not "a b"/, /^3:49: .*must be text, not the number 7/],
  ],
  [
    "a name twice",
    `${head}agents: [{ name: triage }, { name: triage }]\n`,
    ['3:36: two agents are named "triage"'],
  ],
  [
    "a name shared by an agent and a workflow",
    `${head}agents: [{ name: triage }]\nworkflows: [{ name: triage }]\n`,
    ['4:21: an agent and a workflow may not share the name "triage"'],
  ],
  [
    "numbers out of range",
    `${head}agents: [{ name: triage, timeout: 0, retry_policy: { max_retries: 1.5, initial_delay: -1, max_delay: .inf } }]\n`,
    [
      /timeout must be a number over 0/,
      /max_retries must be a whole number/,
      /initial_delay must be a number from 0/,
      /max_delay must be a number from 0/,
    ],
  ],
  [
    "an initial delay over the maximum",
    `${head}agents: [{ name: triage, retry_policy: { initial_delay: 500 } }]\n`,
    [/initial_delay \(500\) may not be over max_delay \(300\)/],
  ],
  [
    "bad descriptions, and a tool with the prefix of the service's tools",
    `${head}agents: [{ name: triage, description: "" }, { name: notify, description: "a\\u0007" }, { name: svc_a, expose_as_tool: true }]\n`,
    [
      /agents\[0\]\.description must not be empty/,
      /agents\[1\]\.description may have no control characters/,
      /agent "svc_a" may not be a tool: tools whose name begins with svc_ belong to the service/,
    ],
  ],
  [
    "an unknown strategy",
    `${head}agents: [{ name: triage, retry_policy: { strategy: exponentail } }]\n`,
    [/must be exponential or fixed.*did you mean "exponential"/],
  ],
  [
    "yes instead of true",
    `${head}agents: [{ name: triage, enable_retry: yes }]\n`,
    [/enable_retry must be true or false, not the text "yes"/],
  ],
  [
    "a slug twice",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a }, { slug: a }, { slug: A }] }]\n`,
    [/^3:58: two webhooks of one target have the slug "a"/],
  ],
  [
    "invalid paths",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, field_mapping: { "a[01]": x, a..b: y, "": z } }] }]\n`,
    [
      /"a\[01\]" at character 3: an index/,
      /"a\.\.b" at character 3: a name is missing/,
      /"" at character 1: a name is missing/,
    ],
  ],
  [
    "a parameter mapped twice",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, field_mapping: { a: x, b: x } }] }]\n`,
    [/"a" and "b" are both mapped to the parameter "x"/],
  ],
  [
    "a parameter that is not text",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, field_mapping: { a: [x] } }] }]\n`,
    [/field_mapping\.a must be text, not a list/],
  ],
  [
    "an unknown scheme",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, signature: { scheme: git_hub, secret: S } }] }]\n`,
    [/must be standard, .* or zoom.*did you mean "github"/],
  ],
  [
    "keys of another scheme",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, signature: { scheme: stripe, secret: S, header: x, prefix: y } }] }]\n`,
    [
      /header is for the scheme hmac and ed25519 and token, not stripe/,
      /prefix is for the scheme hmac and ed25519, not stripe/,
    ],
  ],
  [
    "hmac without a header",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, signature: { scheme: hmac, secret: S } }] }]\n`,
    [/signature\.header is missing/],
  ],
  [
    "three secrets",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, signature: { scheme: slack, secret: [A, B, C] } }] }]\n`,
    [/must name one secret, or two during rotation, not 3/],
  ],
  [
    "an invalid header name",
    `${head}agents: [{ name: triage, webhooks: [{ slug: a, idempotency: { header: "x y" } }] }]\n`,
    [/must be the name of an HTTP header, not "x y"/],
  ],
  [
    "a schedule without a target",
    `${head}agents: [{ name: triage }]\nschedules: { agents: { triaje: { cron: "* * * * *" } } }\n`,
    ['4:24: the project has no agent "triaje" to schedule (did you mean "triage"?)'],
  ],
  [
    "two schedules of one target with one name, and one without a name",
    `${head}agents: [{ name: triage }]\nschedules: { agents: { triage: [{ name: x, cron: "* * * * *" }, { name: x, cron: "* * * * *" }, { cron: "* * * * *" }] } }\n`,
    [/schedules\.agents\.triage has two schedules "x"/, /schedules\.agents\.triage\[2\]\.name is missing/],
  ],
  [
    "variables that are not scalars, and invalid names",
    `${head}vars: { LIST: [1], _X: 1 }\nenvironments: { "a b": {}, staging: { secrets: {} } }\n`,
    [
      /vars\.LIST must be text, a number, true or false, not a list/,
      /the name of a variable must be 1 to 64 .* not "_X"/,
      /the name of an environment must be .* not "a b"/,
      /unknown key "secrets" in environments\.staging/,
    ],
  ],
  [
    "a variable of one environment that looks like a mistyped one of the project",
    `${head}vars: { PRICE: 999 }\nenvironments: { staging: { vars: { PRCE: 1 } } }\n`,
    [/^4:36: environments\.staging\.vars\.PRCE is not in vars of the project \(did you mean "PRICE"\?\)/],
  ],
  [
    "a schedule in the wrong group",
    `${head}agents: [{ name: triage }]\nschedules: { workflows: { triage: { cron: "* * * * *" } } }\n`,
    ['4:27: "triage" is not a workflow: move it to schedules.agents'],
  ],
  [
    "an invalid cron expression",
    `${head}agents: [{ name: triage }]\nschedules: { agents: { triage: { cron: "@daily" } } }\n`,
    [/^4:40: schedules\.agents\.triage\.cron: Cannot use the cron expression "@daily"/],
  ],
  [
    "an unknown time zone",
    `${head}agents: [{ name: triage }]\nschedules: { agents: { triage: { cron: "* * * * *", timezone: Europe/Berlni } } }\n`,
    [/timezone: .*Europe\/Berlin/],
  ],
  [
    "an input that JSON cannot represent",
    `${head}agents: [{ name: triage }]\nschedules: { agents: { triage: { cron: "* * * * *", input: { a: [.nan] } } } }\n`,
    [/input must be JSON, which has no NaN/],
  ],
  ["a merge key", `${head}agents:\n  - name: triage\n    <<: { timeout: 1 }\n`, [/^5:5: merge keys/]],
  [
    "a key twice",
    `${head}agents:\n  - name: triage\n    timeout: 1\n    timeout: 2\nname: again\n`,
    ['6:5: the key "timeout" is given twice', '7:1: the key "name" is given twice'],
  ],
  ["a list as a key", `${head}? [a]\n: 1\n`, [/^3:3: a key must be plain text/]],
  ["a tag", `${head}agents: !mine []\n`, [/^3:9: unresolved tag: !mine/]],
  [
    "broken YAML",
    `${head}agents: [{ name: triage\nworkflows: }\n`,
    [/^4:1: flow map/, /^4:1: flow sequence/, /^4:12: /],
  ],
  ["two documents", `${head}---\na: 1\n`, [/^1:1: .*single document/]],
  [
    "hosts that are not host patterns",
    `${head}network:\n  - https://a.example\n  - 7\n  - ok.example\n  - "*.example:0"\n`,
    [
      /^4:5: network\[0\] must be a host such as .*, without a scheme or a path, not "https:\/\/a\.example"$/,
      '5:5: network[1] must be text, not the number 7: write "7"',
      /^7:5: network\[3\] must be a host such as /,
    ],
  ],
  [
    "a network without a value",
    `${head}network:\n`,
    ["3:9: network must be a list: write [] to allow no host"],
  ],
  [
    "a network that is not a list",
    `${head}network: a.example\n`,
    [/^3:10: network must be a list, not the text/],
  ],
  [
    "more than 100 hosts",
    `${head}network: [${Array.from({ length: 101 }, (_, index) => `h${index}.example`).join(", ")}]\n`,
    ["3:10: network may have at most 100 hosts, not 101"],
  ],
  [
    "a key with control characters",
    `${head}"a\\e[2J": 1\n"a\\e[2J": 2\n`,
    ['4:1: the key "a\\u001b[2J" is given twice'],
  ],
  [
    "aliases that repeat a long text",
    `${head}x-a: &a ${"x".repeat(100_000)}\nx-b: &b [*a, *a, *a, *a]\nx-c: [*b, *b]\n`,
    [/^5:6: more than 524288 characters after its aliases are expanded$/],
  ],
  ["an alias before its anchor", `${head}x-a: *late\nx-b: &late 1\n`, [/^3:6: .*late/]],
  ["an alias into itself", `${head}x-a: &a [*a]\n`, ['3:10: the alias "*a" contains itself']],
];

test.each(mistakes)("reports %s", (_, text, expected) => {
  const found = complaints(text);
  for (const [index, one] of expected.entries()) {
    if (typeof one === "string") expect(found[index]).toBe(one);
    else expect(found[index]).toMatch(one);
  }
  expect(found).toHaveLength(expected.length);
});

describe("parses hostile files in bounded time", () => {
  const letters = "bcdefghijklmnopqrstuvwxyz".split("");
  const bomb = letters.reduce(
    (text, letter, index) =>
      `${text}${letter}: &${letter} [${`*${index === 0 ? "a" : letters[index - 1]},`.repeat(9)}]\n`,
    "a: &a [x,x]\n",
  );
  const maxBytes = 256 * 1024;
  const long = (unit: string, bytes = maxBytes): string =>
    unit.repeat(Math.floor((bytes - 100) / unit.length));
  const numbered = (length: number, entry: (index: number) => string, separator: string): string =>
    Array.from({ length }, (_, index) => entry(index)).join(separator);
  const texts: [string, string][] = [
    ["aliases that multiply", bomb],
    ["aliases that multiply in repeated keys", `${bomb}${"? *z\n: 1\n".repeat(100)}`],
    ["nested lists", long("[")],
    ["nested maps", long("a: {")],
    ["nested blocks", long("- ")],
    ["nested lists after a syntax error", `a: b: c\n${"[".repeat(9_000)}`],
    ["syntax errors", `a: b: c\n${'"\n'.repeat(4_900)}`],
    ["quotes", long('"')],
    ["anchors", long("& ")],
    ["tags", long("! ")],
    ["a long line", `name: ${long("x")}`],
    ["many keys", numbered(20_000, (index) => `k${index}: 1`, "\n")],
    ["many keys in one line", `{${numbered(20_000, (index) => `k${index}: 1`, ",")}}`],
    ["the permitted number of keys", numbered(9_900, (index) => `k${index}: 1`, "\n")],
    ["one key very often", "a: 1\n".repeat(9_900)],
    ["one alias very often", `x-a: &a 1\nx-b: [${"*a,".repeat(24_000)}]`],
    ["comments with spaces", `${"# # ".repeat(50_000)}\nx`],
    ["200,000 lines", "\n".repeat(200_000)],
    ["line ends", long("\r\n")],
    ["unknown keys", `${head}${numbered(9_000, (index) => `agent${index}: 1\n`, "")}`],
    [
      "unknown time zones",
      `${head}agents: [${numbered(1_000, (index) => `{ name: n${index} }`, ",")}]
schedules: { agents: { ${numbered(1_000, (index) => `n${index}: { cron: "* * * * *", timezone: europe/berli${index} }`, ",")} } }`,
    ],
    [
      "unknown names of schedules",
      `${head}agents: [${numbered(1_500, (index) => `{ name: ${"n".repeat(50)}${index} }`, ",")}]
schedules: { agents: { ${numbered(1_500, (index) => `${"n".repeat(50)}x${index}: {}`, ",")} } }`,
    ],
  ];
  test.each(texts)("%s", { timeout: 90_000 }, (_, text) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
    const before = process.cpuUsage();
    const { definition, problems } = parse(text);
    const { user, system } = process.cpuUsage(before);
    expect(definition).toBeNull();
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(100);
    // Processor time, because other processes prolong the elapsed time. The slowest took 0.3 s.
    expect((user + system) / 1e6).toBeLessThan(1.5);
  });

  test("parses the permitted number of empty lines in bounded time", () => {
    expect(parse(`${head}${"\n".repeat(49_980)}`).problems).toEqual([]);
    expect(complaints(`${head}${"\n".repeat(50_000)}`)).toEqual([
      "1:1: a project file may hold at most 50000 tokens, which is about 5000 lines",
    ]);
  });

  test("rejects a file over 256 KiB", () => {
    const text = head + "#".repeat(maxBytes - head.length);
    expect(parse(text).problems).toEqual([]);
    expect(complaints(`${text}#`)).toEqual([
      "1:1: a project file may hold at most 262144 bytes, this one has 262145",
    ]);
  });

  test("rejects bytes that are not UTF-8, with their position", () => {
    const bytes = Buffer.concat([
      Buffer.from(`${head}agents: [] # caf`),
      Buffer.from([0xe9]),
      Buffer.from("\nx: 1\n"),
    ]);
    const { problems } = parseProjectFile(bytes);
    expect(problems).toEqual([
      { line: 3, column: 17, message: "not UTF-8 text", source: "agents: [] # caf\ufffd" },
    ]);
    // An encoded surrogate, which is invalid UTF-8.
    expect(parseProjectFile(new Uint8Array([0xed, 0xa0, 0x80])).problems[0]?.message).toBe("not UTF-8 text");
  });

  test("returns a hundred problems and the number of the remaining ones", () => {
    const { problems } = parse(
      `${head}${Array.from({ length: 250 }, (_, index) => `zz${index}: 1\n`).join("")}`,
    );
    expect(problems).toHaveLength(100);
    expect(problems.at(-1)?.message).toBe('unknown key "zz99" (150 more problems are not shown)');
  });
});

test("formats a problem with its line and a mark", () => {
  const [problem] = parse(`${head}agents: [{ name: "ä ö" }]\n`).problems;
  expect(problem && formatProblem("svc-project.yaml", problem)).toBe(
    [
      'svc-project.yaml:3:18: agents[0].name must be 1 to 64 of A-Z a-z 0-9 _ -, first a letter or digit, not "ä ö"',
      '  3 | agents: [{ name: "ä ö" }]',
      "    |                  ^",
    ].join("\n"),
  );
});

test("replaces control characters and cuts a long line around the problem", () => {
  const shown = formatProblem("f.yaml", {
    line: 1,
    column: 300,
    message: "m",
    source: `${"a".repeat(299)}\u001b[2J${"b".repeat(300)}`,
  });
  expect(shown).not.toContain("\u001b");
  const [, line = "", mark = ""] = shown.split("\n");
  expect(line[mark.indexOf("^")]).toBe("\ufffd");
  expect(line.length).toBeLessThan(120);
});

test.each([
  ["another name", "{ staging: { vars: { REGION: eu } } }"],
  ["a similar name and the name of the project", "{ staging: { vars: { PRICE: 1, PRICES: 2 } } }"],
  [
    "a similar name in two environments",
    "{ staging: { vars: { PRICES: 1 } }, test: { vars: { PRICES: 2 } } }",
  ],
])("accepts a variable that only environments have: %s", (_, environments) => {
  const file = `name: p\nversion: "1"\nvars: { PRICE: 9 }\nenvironments: ${environments}\n`;
  expect(parseProjectFile(Buffer.from(file)).problems).toEqual([]);
});
