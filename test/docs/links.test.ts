/** The links of all documents lead to files and headings of the repository. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { filesUnder } from "../architecture/prose.ts";
import { root } from "../support/runtimes.ts";
import { pages } from "./blocks.ts";

test("the documents have no broken links", () => {
  const links = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)].map(
      ([, path = "", anchor]) => ({
        page,
        target: path === "" ? join(root, page) : join(root, dirname(page), path),
        anchor,
      }),
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ target, anchor }) => {
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchors(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

test("the index lists every page", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const listed = [...index.matchAll(/^\| \[.+\]\((.+)\) \| .+ \|$/gm)].map(([, path = ""]) => path);
  const expected = filesUnder("docs", /\.md$/)
    .map((path) => path.replace(/^docs\//, ""))
    .filter((path) => path !== "README.md" && (!path.includes("/") || path.endsWith("/README.md")));
  expect(listed.filter((path) => !path.startsWith("../")).toSorted()).toEqual(expected.toSorted());
});

/** The anchors of headings, as GitHub makes them. */
function anchors(file: string): Set<string> {
  const headings = readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
