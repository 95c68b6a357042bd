/** ExecutionService: runs, shows and cancels executions. */
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { JsonObject } from "../../project/json.ts";
import { type ExecutionService, ListExecutionsResponseSchema } from "../../proto/svc/v1/execution_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { notFound } from "../errors.ts";
import { isId, orderedId } from "../ids.ts";
import { getTarget } from "../store/activation.ts";
import {
  type ExecutionRow,
  getExecution,
  insertExecution,
  listAttempts,
  listExecutions,
} from "../store/executions.ts";
import { encodePayload } from "../webhooks/payload.ts";
import type { App } from "./app.ts";
import { cancelTree } from "./cancel.ts";
import { detailed, toExecution } from "./convert.ts";
import { tailLogs, watchExecution } from "./follow.ts";
import { replay } from "./replay.ts";
import {
  checkedWord,
  environmentFilter,
  environmentOf,
  executionStatuses,
  kinds,
  paged,
  pageOf,
} from "./request.ts";

export function executionService(app: App): ServiceImpl<typeof ExecutionService> {
  const { engine } = app;

  async function require(orgId: string, executionId: string): Promise<ExecutionRow> {
    const row = isId("exe", executionId)
      ? await engine.read(() => getExecution(orgId, executionId))
      : undefined;
    if (row === undefined) throw notFound(`There is no execution '${executionId.slice(0, 80)}'.`);
    return row;
  }

  return {
    async runExecution(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const kind = checkedWord("kind", request.kind, kinds);
      const input = encodePayload((request.input ?? {}) as JsonObject, app.config.limits);
      const row = await engine.write(function* () {
        const target = yield* getTarget(orgId, environment, request.name);
        if (target === undefined || (kind !== "" && target.kind !== kind)) {
          const what = kind === "" ? "agent or workflow" : kind;
          throw notFound(
            `There is no ${what} '${request.name.slice(0, 80)}' in ${environment}. Deploy one with that name first.`,
          );
        }
        const now = Date.now();
        const executionId = orderedId("exe", now);
        yield* insertExecution({
          org_id: orgId,
          execution_id: executionId,
          kind: target.kind,
          name: target.name,
          origin: "run",
          deployment_id: target.deployment_id,
          environment,
          input: input.text,
          created_at: now,
        });
        return yield* getExecution(orgId, executionId);
      });
      if (row === undefined) throw new Error("The inserted row was not found.");
      app.executor.wake(row.deployment_id);
      return toExecution(row);
    },

    async getExecution(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.executionId);
      const attempts = await engine.read(() => listAttempts(orgId, row.execution_id));
      return detailed(row, attempts);
    },

    async cancelExecution(request, context) {
      const { orgId } = callerOf(context);
      await require(orgId, request.executionId);
      await cancelTree(app, orgId, request.executionId);
      return toExecution(await require(orgId, request.executionId));
    },

    async replayExecution(request, context) {
      const { orgId } = callerOf(context);
      const original = await require(orgId, request.executionId);
      const input =
        request.input === undefined
          ? original.input
          : encodePayload(request.input as JsonObject, app.config.limits).text;
      const row = await engine.write(() => replay(original, input, request.deploymentId));
      app.executor.wake(row.deployment_id);
      return toExecution(row);
    },

    async listExecutions(request, context) {
      const { orgId } = callerOf(context);
      const page = pageOf(request);
      const filter = {
        environment: environmentFilter(request.environment, context),
        status: checkedWord("status", request.status, executionStatuses),
        name: request.name,
        kind: checkedWord("kind", request.kind, kinds),
        since: request.since === undefined ? 0 : timestampMs(request.since),
        before: page.before,
        limit: page.limit + 1,
      };
      const found = await engine.read(() => listExecutions(orgId, filter));
      const { rows, nextPageToken } = paged(found, page, (row) => row.execution_id);
      return create(ListExecutionsResponseSchema, { executions: rows.map(toExecution), nextPageToken });
    },

    async *watchExecution(request, context) {
      const { orgId } = callerOf(context);
      await require(orgId, request.executionId);
      yield* watchExecution(app, orgId, request, context.signal);
    },

    async *tailLogs(request, context) {
      const { orgId } = callerOf(context);
      if (request.executionId !== "") await require(orgId, request.executionId);
      const environment = environmentFilter(request.environment, context);
      yield* tailLogs(app, orgId, { ...request, environment }, context.signal);
    },
  };
}
