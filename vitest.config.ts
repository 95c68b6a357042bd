import { defineConfig } from "vitest/config";
import LongFirst from "./test/long-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "test/.tmp/**"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real processes, ports and clocks on a shared machine: CI asks again before it calls a test failed, people do not.
    retry: process.env.CI ? 2 : 0,
    // Test files start servers and children of their own, and wait for them; two cores carry three files at a time.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
  },
});
