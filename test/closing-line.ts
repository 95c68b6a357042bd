/** Reporter: prints `<n> passed, <n> failed` as the last line of a run. CI reads this line. */
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
      // A test file that failed to load has no tests to count.
      if (module.state() === "failed" && module.errors().length > 0) counts.failed++;
    }
    // The default reporter writes its summary after this event.
    process.on("exit", () => {
      if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
      console.log(`${counts.passed} passed, ${counts.failed} failed`);
    });
  }
}
