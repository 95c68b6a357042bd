/** The project files in docs/webhooks are valid, and every sender has a page. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { handshakeKinds, signatureSchemes } from "../../project/definition.ts";
import { parseProjectFile } from "../../project/file/parse.ts";

const folder = new URL("../../docs/webhooks/", import.meta.url);
const pages = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), "utf8"),
}));

test("every sender has a page, and the general schemes and handshakes are listed", () => {
  const general = new Set(["standard", "hmac", "token", "basic"]);
  const names = new Set(pages.map(({ name }) => name.replace(/\.md$/, "")));
  for (const scheme of signatureSchemes) if (!general.has(scheme)) expect(names).toContain(scheme);
  const textOf = (name: string) => pages.find((page) => page.name === name)?.text ?? "";
  for (const scheme of signatureSchemes) expect(textOf("signatures.md")).toContain(`\`${scheme}\``);
  for (const kind of handshakeKinds) expect(textOf("handshakes.md")).toContain(`| \`${kind}\` |`);
});

const blocks = pages.flatMap(({ name, text }) =>
  [...text.matchAll(/```yaml\n([^`]*)```/g)].map(([, block = ""]) => ({ name, block })),
);

test.each(blocks)("the project file of $name is valid", ({ block }) => {
  const webhooks = block.startsWith("field_mapping:") ? `webhooks:\n  - slug: a\n${indented(block)}` : block;
  const file = `name: p\nversion: "1"\nagents:\n  - name: a\n${indented(webhooks)}`;
  expect(parseProjectFile(Buffer.from(file)).problems).toEqual([]);
});

test.each(pages)("the links of $name lead to pages", ({ text }) => {
  for (const [, target = ""] of text.matchAll(/\]\(([a-z]+\.md)\)/g)) {
    expect(pages.map(({ name }) => name)).toContain(target);
  }
});

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "    ");
}
