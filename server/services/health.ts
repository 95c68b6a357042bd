/** HealthService: checks the parts that the service depends on. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { CheckResponseSchema, type HealthService } from "../../proto/svc/v1/health_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { isDiskFull, statusHeader } from "../errors.ts";
import { describeBoundary } from "../executions/sandbox/boundary.ts";
import { runtimeName } from "../runtime.ts";
import { StorageError } from "../storage/errors.ts";
import { countOrganizations } from "../store/tables/organizations.ts";
import { log, reasonOf } from "../telemetry/log/index.ts";
import { version } from "../version.ts";
import type { App } from "./app.ts";

export function healthService(app: App): ServiceImpl<typeof HealthService> {
  return {
    async check(_request, context) {
      const { orgId, sender, keyExpiresAtMs } = callerOf(context);
      const checks = await checkParts(app);
      const ok = Object.values(checks).every(isWell);
      if (!ok) context.responseHeader.set(statusHeader, "503");
      return create(CheckResponseSchema, {
        status: ok ? "ok" : "degraded",
        version,
        runtime: runtimeName,
        organization: orgId,
        checks,
        isolation: app.boundary === null ? "" : describeBoundary(app.boundary),
        clientAddress: sender.address ?? "",
        proxyIgnored: sender.isProxyIgnored,
        ...(keyExpiresAtMs !== null && { keyExpiresAt: timestampFromMs(keyExpiresAtMs) }),
      });
    },
  };
}

/** Whether a part works, or other processes have it. */
export function isWell(result: string): boolean {
  return result === "ok" || result === "off";
}

/** The state of each part; also used by `/readyz`, which requires no key. */
export async function checkParts(
  app: App,
): Promise<{ store: string; storage: string; executor: string; scheduler: string }> {
  const isApi = app.config.role === "api";
  const [store, storage, executor, scheduler] = await Promise.all([
    stateOf(() => app.engine.read(countOrganizations)),
    stateOf(() => app.storage.check()),
    isApi ? "off" : stateOf(async () => app.executor.check()),
    isApi ? "off" : stateOf(async () => app.scheduler.check()),
  ]);
  return { store, storage, executor, scheduler };
}

/** Logs the message of a failure and returns only the summary of a storage, because other messages may name paths. */
async function stateOf(check: () => Promise<unknown>): Promise<string> {
  try {
    await check();
    return "ok";
  } catch (error) {
    log.error("Health check failed", { reason: reasonOf(error) });
    if (isDiskFull(error)) return "failing: the disk is full";
    return error instanceof StorageError ? `failing: ${error.summary}` : "failing";
  }
}
