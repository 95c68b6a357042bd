import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Test files wait for the servers and runners that they start: three of them keep two cores busy.
    maxWorkers: 3,
  },
});
