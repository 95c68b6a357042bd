/** HealthService: checks the parts that the service depends on. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { CheckResponseSchema, type HealthService } from "../../proto/svc/v1/health_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { statusHeader } from "../errors.ts";
import { describeBoundary } from "../executions/sandbox/boundary.ts";
import { runtimeName } from "../runtime.ts";
import { countOrganizations } from "../store/organizations.ts";
import { version } from "../version.ts";
import type { App } from "./app.ts";

export function healthService(app: App): ServiceImpl<typeof HealthService> {
  return {
    async check(_request, context) {
      const { orgId } = callerOf(context);
      const checks = await checkParts(app);
      const ok = Object.values(checks).every((result) => result === "ok");
      if (!ok) context.responseHeader.set(statusHeader, "503");
      return create(CheckResponseSchema, {
        status: ok ? "ok" : "degraded",
        version,
        runtime: runtimeName,
        organization: orgId,
        checks,
        isolation: describeBoundary(app.boundary),
      });
    },
  };
}

/** The state of each part; also used by `/readyz`, which requires no key. */
export async function checkParts(
  app: App,
): Promise<{ store: string; storage: string; executor: string; scheduler: string }> {
  const [store, storage, executor, scheduler] = await Promise.all([
    stateOf(() => app.engine.read(countOrganizations)),
    stateOf(() => app.storage.check()),
    stateOf(async () => app.executor.check()),
    stateOf(async () => app.scheduler.check()),
  ]);
  return { store, storage, executor, scheduler };
}

/** Logs the message of a failure and does not return it, because it may name paths. */
async function stateOf(check: () => Promise<unknown>): Promise<string> {
  try {
    await check();
    return "ok";
  } catch (error) {
    console.error("Health check failed:", error instanceof Error ? error.message : error);
    return "failing";
  }
}
