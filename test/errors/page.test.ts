/** docs/errors.md is generated from the table of reasons: `npx vitest run test/errors/page.test.ts --update`. */
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { ReasonRow } from "../../server/errors/reasons/row.ts";
import { type Reason, reasons } from "../../server/errors/reasons.ts";
import { fail, statusOf } from "../../server/errors.ts";
import { root } from "../support/runtimes.ts";

const intro = `# Errors

Every error has a code, a message for people and details for programs. Decide by the \`reason\`: reasons are stable, and
messages are not.

Over gRPC, gRPC-Web and Connect the details are those of the protocol. REST paths and webhook URLs return the error JSON of
Connect:

\`\`\`json
{
  "code": "not_found",
  "message": "There is no execution 'exe_1'.",
  "details": [
    {
      "type": "google.rpc.ErrorInfo",
      "value": "ChJSRVNPVVJDRV9OT1RfRk9VTkQSA3N2Yw",
      "debug": { "reason": "RESOURCE_NOT_FOUND", "domain": "svc", "metadata": { "resource_type": "execution" } }
    }
  ]
}
\`\`\`

\`value\` is the message of \`google/rpc/error_details.proto\` in base64, and \`debug\` is the same message as JSON.

| detail | when | content |
|---|---|---|
| \`ErrorInfo\` | always | \`reason\`, the domain \`svc\`, and \`metadata\` such as \`field\` or \`required_scope\` |
| \`BadRequest\` | invalid fields | every violation: \`field\`, \`description\` and the rule as \`reason\` |
| \`RetryInfo\` | with the header \`Retry-After\` | \`retry_delay\` |
| \`QuotaFailure\` | \`RATE_LIMITED\` | the limits that were exceeded |
| \`PreconditionFailure\` | the state of a resource does not allow the request | the resource and the state |
| \`ResourceInfo\` | a resource is missing or in the wrong state | its type and name |

## Reasons

| reason | code | HTTP | meaning | what to do |
|---|---|---|---|---|
`;

test("docs/errors.md lists all reasons", async () => {
  const rows = Object.entries(reasons).map(([reason, row]) => lineOf(reason as Reason, row));
  expect(rows.length).toBeGreaterThan(40);
  await expect(`${intro}${rows.join("\n")}\n`).toMatchFileSnapshot(join(root, "docs/errors.md"));
});

function lineOf(reason: Reason, { code, meaning, advice }: ReasonRow): string {
  const name = Code[code].replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());
  return `| \`${reason}\` | \`${name}\` | ${statusOf(fail(reason, ""))} | ${meaning} | ${advice} |`;
}
