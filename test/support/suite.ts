/** Servers for test suites. */
import { afterAll, beforeAll, describe, expect, type RunnerTestSuite, test } from "vitest";
import { ok } from "./rest.ts";
import { commandRuntimes, fastRunners, type Runtime, runtimes } from "./runtimes.ts";
import { type ServerOptions, TestServer } from "./server.ts";
import type { HealthJson } from "./shapes.ts";

/** A server for the tests of the surrounding suite. Its data is kept when a test fails. */
export function useServer(runtime: Runtime, options: ServerOptions = {}): TestServer {
  const server = new TestServer(runtime, options);
  beforeAll(() => server.start());
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are wanted
  afterAll(({}, suite) => server.discard(hasFailed(suite as RunnerTestSuite)));
  return server;
}

/**
 * Runs a suite against a server on each runtime. The first test asserts which runtime responds.
 * @param on - by default all runtimes; `commandRuntimes` for features that do not depend on the runtime
 */
export function onEveryRuntime(
  title: string,
  options: ServerOptions,
  define: (server: TestServer) => void,
  on: readonly Runtime[] = runtimes,
): void {
  describe.each(on)(`${title} on %s`, (runtime) => {
    const server = useServer(runtime, options);

    test(`runs on ${runtime}`, async () => {
      const health = await ok<HealthJson>(server, "GET", "/health");
      expect(health.runtime).toMatch(new RegExp(`^${runtime} \\d+\\.\\d+\\.\\d+$`));
    });

    define(server);
  });
}

/** For a suite that `npm test` runs on PostgreSQL and S3, and `npm run test:runtimes` on embedded stores. */
export const sharedStores: ServerOptions =
  process.env.ALL_RUNTIMES === undefined ? { stores: "postgres and s3" } : {};

/**
 * Runs a suite whose features do not depend on the runtime on `here`, with runners on Bun, and on all runtimes with
 * `ALL_RUNTIMES=1`.
 */
export function onRuntime(
  here: Runtime,
  title: string,
  options: ServerOptions,
  define: (server: TestServer) => void,
): void {
  const env = { ...fastRunners, ...options.env };
  onEveryRuntime(title, { ...options, env }, define, commandRuntimes(here));
}

function hasFailed(suite: RunnerTestSuite): boolean {
  return suite.tasks.some((task) =>
    task.type === "suite" ? hasFailed(task) : task.result?.state === "fail",
  );
}
