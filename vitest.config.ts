import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "test/.tmp/**"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Test files start servers and children of their own; two cores carry two files at a time.
    maxWorkers: 2,
  },
});
