import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { Sequencer } from "./test/support/sequencer.ts";

// Each worker would compile vitest and the packages again: 0.1 s of the processor each.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache");

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/support/global-setup.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default of a second is too short for a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // Test files share the processes of six workers: a process and its imports cost 0.3 s of the processor for each file.
    isolate: false,
    setupFiles: ["./test/support/fresh-modules.ts"],
    sequence: { sequencer: Sequencer },
    unstubEnvs: true,
    // Test files wait for the servers and runners that they start: six of them keep two cores busy.
    maxWorkers: 6,
  },
});
