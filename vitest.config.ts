import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["./test/support/global-setup.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Test files wait for the servers and runners that they start: four of them keep two cores busy.
    maxWorkers: 4,
  },
});
