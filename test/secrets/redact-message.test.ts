/** Secrets in messages that the runner has changed before the server redacts them. */
import { expect, test } from "vitest";
import { redactMessage } from "../../server/executions/redact-message.ts";
import { cutLine } from "../../server/executions/runner/lines/cut-line.ts";
import { Redactor } from "../../server/secrets/redactor.ts";

const secret = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(20)}-----END PRIVATE KEY-----`;
const redactor = new Redactor([secret, "other-secret", "  spaced\n  secret"]);

test("redacts a value of several lines within console.group", () => {
  const indented = `  key: ${secret}, \nother-secret`.replaceAll("\n", "\n  ");
  expect(redactMessage(redactor, indented)).toBe("  key: ***, \n  ***");
  expect(redactMessage(redactor, "  spaced\n  secret")).toBe("***");
  expect(redactMessage(redactor, "  a\n    b\n  c")).toBe("  a\n    b\n  c");
});

test("redacts the beginning of a value at the end of a truncated line", () => {
  const limit = 2_000;
  for (const kept of [200, 150, 110]) {
    const line = cutLine(`${"x".repeat(limit - kept)}${secret}`, limit);
    const redacted = redactMessage(redactor, line);
    expect(redacted).not.toContain("-----B");
    expect(redacted).toMatch(/^x+\*\*\*… \(truncated: a line may have 2000 bytes/);
  }
  const whole = cutLine(`other-secret ${"x".repeat(limit)}`, limit);
  expect(redactMessage(redactor, whole)).toMatch(/^\*\*\* x+… \(truncated/);
});

test("takes time in proportion to a truncated line, whatever the values", () => {
  const hostile = new Redactor(Array.from({ length: 100 }, (_, index) => `${"a".repeat(20_000)}${index}`));
  expect(redactMessage(hostile, cutLine("a".repeat(30_000), 16_384))).toMatch(/^a?\*\*\*… \(truncated/);
});
