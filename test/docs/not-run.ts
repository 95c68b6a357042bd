/**
 * The commands of the documents that no test runs, each with its reason. Every `svc` command among them is still parsed
 * with the definitions of the commands: see `commands.test.ts`.
 */
export const notRun: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /^(?:npm|bun|deno) (?:ci|install|add|i)\b/,
    "installs from a registry; test/demo runs the demo, and test/layouts installs the packed package",
  ],
  [/^svc serve\b/, "runs until it is stopped; the server of the test takes its place"],
  [/^export (?:SVC|AWS)_\w+=/, "the test sets the variables to those of its server"],
  [/^npx -p typescript@5 -p openapi-typescript\b/, "needs TypeScript 5; test/openapi runs it"],
  [/^npm run bench\b/, "takes minutes; test/bench tests the runner, and compares the page with its results"],
  [/\bexample\.com\b/, "a host that does not exist"],
];

/** Pages whose commands other tests run, or whose commands are parsed only. */
export const parsedPages: readonly (readonly [pages: RegExp, reason: string])[] = [
  [
    /^docs\/webhooks\//,
    "the same three commands for 32 senders; test/webhooks/docs compares them with the senders, test/cli/webhook-add runs some",
  ],
  [/^docs\/cli\.md$/, "examples of the commands, which test/cli runs; their ids and files are placeholders"],
  [/^docs\/(?:api|client)\.md$/, "test/client/docs runs them"],
  [
    /^docs\/(?:scaling|storage|security|production)\.md$/,
    "they need PostgreSQL, S3, several machines or a container engine",
  ],
  [
    /^docs\/(?:backup|upgrading)\.md$/,
    "their folders are placeholders; test/service/data/backup runs the commands",
  ],
  [/^docs\/dev\.md$/, "test/cli/dev runs `svc dev`"],
  [/^docs\/alerts\.md$/, "test/alerts calls the hooks; its ids are placeholders"],
  [/^README\.md$/, "test/architecture/readme runs them"],
  [/^examples\//, "test/examples deploys and runs the examples"],
];
