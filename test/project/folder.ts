import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFailed, onTestFinished } from "vitest";

/** A new folder for the running test. It is removed afterwards, unless the test fails. */
export function testFolder(): string {
  const folder = makeFolder();
  let keep = false;
  onTestFailed(() => {
    keep = true;
    console.error(`The folder of the test was kept: ${folder}`);
  });
  onTestFinished(() => {
    if (!keep) rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A new folder. The caller must remove it. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "svc-project-")));
}

/** Writes files by path and content, and creates their folders. */
export function writeFiles(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
