/** The fenced code blocks of the documents. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder } from "../architecture/prose.ts";
import { root } from "../support/runtimes.ts";

export interface Block {
  /** Path of the document from the root. */
  page: string;
  /** Line of the first line of the text. */
  line: number;
  language: string;
  text: string;
  /** The path in a comment on the first line, as in `// agents/triage.ts`; null without one. */
  file: string | null;
}

/** All documents whose blocks are tested. */
export const pages: readonly string[] = [
  "README.md",
  "plugin/README.md",
  ...filesUnder("docs", /\.md$/),
  ...filesUnder("examples", /\.md$/),
];

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => {
    const [, language = "", code = ""] = match;
    return {
      page,
      line: text.slice(0, match.index).split("\n").length + 1,
      language,
      text: code,
      file: /^(?:\/\/|#) ([\w./-]+\.(?:ts|yaml|yml))\n/.exec(code)?.[1] ?? null,
    };
  });
}

/** The commands of a shell block, without comments. A line that ends with a backslash continues. */
export function commandsOf({ text }: Block): string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");
}
