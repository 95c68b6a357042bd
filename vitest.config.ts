import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "test/.tmp/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Each test file starts its own server and children; two cores carry two at a time.
    maxWorkers: 2,
  },
});
