/** Every sender has a page in docs/webhooks/senders. test/docs checks the project files of the pages. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { itemLines } from "../../cli/project/add-webhook.ts";
import { senders } from "../../cli/senders/index.ts";
import { handshakeKinds, signatureSchemes } from "../../project/definition.ts";

const folder = new URL("../../docs/webhooks/", import.meta.url);
const senderPages = new URL("senders/", folder);
const pagesIn = (url: URL): [name: string, text: string][] =>
  readdirSync(url)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name, readFileSync(new URL(name, url), "utf8")]);
const pages = [...pagesIn(folder), ...pagesIn(senderPages)].map(([name, text]) => ({ name, text }));

test("every sender has a page, and the general schemes and handshakes are listed", () => {
  const general = new Set(["standard", "hmac", "ed25519", "token", "basic"]);
  const names = new Set(pages.map(({ name }) => name.replace(/\.md$/, "")));
  for (const scheme of signatureSchemes) if (!general.has(scheme)) expect(names).toContain(scheme);
  const textOf = (name: string) => pages.find((page) => page.name === name)?.text ?? "";
  for (const scheme of signatureSchemes) expect(textOf("signatures.md")).toContain(`\`${scheme}\``);
  for (const kind of handshakeKinds) expect(textOf("handshakes.md")).toContain(`| \`${kind}\` |`);
});

test.each(senders)("the page of $name shows the command, its result and the secrets", (sender) => {
  const { name, title, description, webhook, secrets, setup } = sender;
  const text = pages.find((page) => page.name === `${name}.md`)?.text ?? "";
  expect(text).toMatch(new RegExp(`^# ${title}\n`));
  expect(text).toContain(`webhooks:\n${itemLines({ slug: name, ...webhook }, 2).join("\n")}\n`);
  for (const command of [
    `svc webhook add ${name}`,
    ...Object.keys(secrets).map((each) => `svc secrets set ${each}`),
  ]) {
    expect(text).toContain(command);
  }
  expect(text).toContain(setup);
  for (const row of ["Verified", "Handshake", "Events", "Mapping", "Redelivery"]) {
    expect(text).toMatch(new RegExp(`^\\| ${row} \\| .+ \\|$`, "m"));
  }
  const index = pages.find((page) => page.name === "README.md")?.text ?? "";
  expect(index).toContain(`| [${title}](senders/${name}.md) | ${description} |`);
});
