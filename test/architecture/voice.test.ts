/** Keeps the voice: standard technical English with the terms of the field, in everything that people read. */
import { describe, expect, test } from "vitest";
import {
  documentProse,
  filesUnder,
  type Passage,
  protoProse,
  read,
  sourceProse,
  testProse,
} from "./prose.ts";

/** Phrases that no text uses, whatever the case. A space stands for any white space. */
const phrases: readonly RegExp[] = [
  /\banew\b/,
  /\bafresh\b/,
  /\bbeside\b/,
  /\bmend(?:s|ed|ing)?\b/,
  /\bwho(?:so)?ever\b/,
  /\b(?:there|where)(?:of|upon|with|by)\b/,
  /\ba second one\b/,
  /\bthe others\b/,
  /\bthat which\b/,
  /\bwhat (?:comes|came|runs|ran|waits|waited|is due|was due)\b/,
  /\bhow things (?:are|were|stand)\b/,
  /\bby the clock\b/,
  /\bmade up for\b/,
  /\b(?:is|are|was|were) asked for\b/,
  /\bno fault of\b/,
  /\bspoke for\b/,
];

/** A statement does not begin with these words; a question may. */
const opening =
  /(?:^|[.!?]["')\]`]?\s+|\n\s*\n\s*|\n[-*|] +)(what(?:ever)?|who|nobody)\s(?=[^.?!]*(?:[.!]|$|\n\s*\n))/gi;

/** Names that describe moods or pictures. */
const identifiers = /\b(?:deathRattle|DeathRattle|spoiled|worn|verdict|Verdict|inlet|Inlet)\w*\b/;

const documents = [
  "README.md",
  "CHANGELOG.md",
  "plugin/README.md",
  ...filesUnder("docs", /\.md$/),
  ...filesUnder("examples", /\.md$/),
];
const published = ["server", "cli", "client", "project", "plugin"];
const parts: Readonly<Record<string, () => Passage[]>> = {
  documents: () => documents.flatMap(documentProse),
  "proto comments": () => filesUnder("proto/svc", /\.proto$/).flatMap(protoProse),
  "server/": () => filesUnder("server", /\.ts$/).flatMap(sourceProse),
  "cli/": () => filesUnder("cli", /\.[jt]s$/).flatMap(sourceProse),
  "client/": () => filesUnder("client", /\.ts$/).flatMap(sourceProse),
  "project/": () => filesUnder("project", /\.ts$/).flatMap(sourceProse),
  "plugin/": () => filesUnder("plugin", /\.ts$/).flatMap(sourceProse),
  "examples/": () => filesUnder("examples", /\.ts$/).flatMap(sourceProse),
  "test/": () =>
    filesUnder("test", /\.ts$/)
      .filter((file) => !exempt.has(file))
      .flatMap(testProse),
};
/** These files list the banned phrases. */
const exempt = new Set(["test/architecture/voice.test.ts"]);

describe("the voice test", () => {
  const check = (text: string) => problems([{ file: "file", line: 7, text }]);

  test.each([
    ["It starts anew.", "anew"],
    ["A row beside\nthe others.", "beside"],
    ["Mends the file.", "Mends"],
    ["What runs is kept.", "What runs"],
    ["Prints logs. Nobody reads them.", "Nobody"],
    ["who may call it", "who"],
    ["List:\n\n- What it holds.", "What"],
  ])("finds the phrase in %j", (text, phrase) => {
    expect(check(text).join("\n")).toContain(phrase);
  });

  test.each([
    "Besides the port, pass a host: one or two of them.",
    "Who calls? The interceptor knows what to check.",
    "Says what to do and who did it.",
    "Recommended amendments.",
  ])("accepts %j", (text) => {
    expect(check(text)).toEqual([]);
  });

  test("names the line of a phrase", () => {
    expect(check("First line\nsecond anew.")).toEqual(["file:8: anew"]);
  });

  test("reads comments, literals and titles, and no code", () => {
    const seen = sourceProse("server/listener/client-error.ts")
      .map(({ text }) => text)
      .join("\n");
    expect(seen).toContain("Request Header Fields Too Large");
    expect(seen).toContain("half of the connection");
    expect(seen).not.toContain("destroySoon");
    const titles = testProse("test/architecture/voice.test.ts").map(({ text }) => text);
    expect(titles).toContain("names the line of a phrase");
    expect(titles).not.toContain("file:8: anew");
  });
});

test.each(Object.entries(parts))("%s keeps the voice", (_, passages) => {
  const all = passages();
  expect(all.length).toBeGreaterThan(0);
  expect(problems(all)).toEqual([]);
});

test("no identifier is named after a mood or a picture", () => {
  const found = published
    .flatMap((folder) => filesUnder(folder, /\.ts$/))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((text, index) => {
          const match = identifiers.exec(text);
          return match === null ? [] : [`${file}:${index + 1}: ${match[0]}`];
        }),
    );
  expect(found).toEqual([]);
});
const rules = [...phrases.map(({ source }) => new RegExp(source.replaceAll(" ", "\\s+"), "gi")), opening];

function problems(passages: readonly Passage[]): string[] {
  return passages.flatMap(({ file, line, text }) =>
    rules.flatMap((rule) =>
      [...text.matchAll(rule)].map((match) => {
        const phrase = match[1] ?? match[0];
        const before = text.slice(0, match.index + match[0].indexOf(phrase));
        return `${file}:${line + before.split("\n").length - 1}: ${phrase.replaceAll(/\s+/g, " ")}`;
      }),
    ),
  );
}
