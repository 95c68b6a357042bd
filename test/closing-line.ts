/** A reporter of vitest's: ends a run with one line that says how many tests passed and failed. */
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") counts.passed++;
        else if (state === "failed") counts.failed++;
        else counts.skipped++;
      }
      // A module that could not be loaded has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0) counts.failed++;
    }
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
    // After the other reporters' summary, which is written in the same turn.
    process.on("exit", () => console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`));
  }
}
