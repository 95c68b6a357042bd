/** ExecutionService: runs, shows and cancels executions. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { TargetDefinition } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";
import {
  DownloadExecutionResponseSchema,
  type ExecutionService,
  ListExecutionsResponseSchema,
} from "../../../proto/svc/v1/execution_pb.ts";
import { callerOf } from "../../auth/caller.ts";
import { fail, noResource } from "../../errors.ts";
import { isId, orderedId } from "../../ids.ts";
import { getTarget } from "../../store/tables/activation.ts";
import { type ExecutionRow, getExecution, listAttempts } from "../../store/tables/executions.ts";
import { acceptExecutions } from "../../store/tables/idempotency.ts";
import { parseStored } from "../../store/tables/json.ts";
import { onceForRun } from "../../webhooks/idempotency.ts";
import { encodePayload } from "../../webhooks/payload.ts";
import type { App } from "../app.ts";
import { detailed, toExecution } from "../convert.ts";
import { tailLogs, watchExecution } from "../follow.ts";
import { hasMessageLimit } from "../grpc-size.ts";
import { environmentFilter, environmentOf, hasExactNumbers, traceOf } from "../request.ts";
import { cancelTree } from "./cancel.ts";
import { InputChecks, Unchecked } from "./input-check.ts";
import { listPageOfExecutions } from "./list.ts";
import { replay } from "./replay.ts";
import { readTree, toTree } from "./tree.ts";

/** Bytes of a message of DownloadExecution. */
const chunkBytes = 1024 * 1024;

export function executionService(app: App): ServiceImpl<typeof ExecutionService> {
  const { engine } = app;
  const inputs = new InputChecks(app);

  async function require(orgId: string, executionId: string): Promise<ExecutionRow> {
    const row = isId("exe", executionId)
      ? await engine.read(() => getExecution(orgId, executionId))
      : undefined;
    if (row === undefined) {
      throw noResource("execution", executionId, `There is no execution '${executionId.slice(0, 80)}'.`);
    }
    return row;
  }

  return {
    async runExecution(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const { kind } = request;
      const input = encodePayload(
        (request.input ?? {}) as JsonObject,
        app.config.limits,
        hasExactNumbers(context),
      );
      const header = context.requestHeader.get("idempotency-key");
      const once = onceForRun(environment, header, [request.name, kind, input.text]);
      const accept = function* (checked: string | null) {
        const target = yield* getTarget(orgId, environment, request.name);
        if (target === undefined || (kind !== "" && target.kind !== kind)) {
          const what = kind === "" ? "agent or workflow" : kind;
          throw fail(
            "TARGET_NOT_FOUND",
            `There is no ${what} '${request.name}' in ${environment}. Deploy one with that name first.`,
            { metadata: { name: request.name, environment } },
          );
        }
        if (target.has_input_schema > 0 && target.deployment_id !== checked) {
          const { module } = parseStored<TargetDefinition>(target.definition);
          return new Unchecked(target.deployment_id, target.name, module);
        }
        const now = Date.now();
        const executionId = orderedId("exe", now);
        const execution = {
          org_id: orgId,
          execution_id: executionId,
          kind: target.kind,
          name: target.name,
          origin: "run" as const,
          deployment_id: target.deployment_id,
          environment,
          input: input.text,
          trace: traceOf(app, context),
          created_at: now,
        };
        const [accepted] = yield* acceptExecutions([{ execution, once }], now);
        if (accepted?.sameBody === false) {
          throw fail("IDEMPOTENCY_KEY_REUSED", "The idempotency key was used with another target or input.");
        }
        const id = accepted?.executionId ?? executionId;
        return { id, row: yield* getExecution(orgId, id), replayed: id !== executionId };
      };
      const { id, row, replayed } = await inputs.store({
        orgId,
        input: input.value,
        key: JSON.stringify([orgId, environment, kind, request.name]),
        store: (checked) => engine.write(() => accept(checked)),
      });
      if (row === undefined) {
        const message = `The execution of this idempotency key was deleted; use another key to run '${request.name}' again.`;
        throw noResource("execution", id, message);
      }
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      return toExecution(row, hasMessageLimit(context));
    },

    async getExecution(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.executionId);
      const id = row.execution_id;
      const attempts = await engine.read(() => listAttempts(orgId, id));
      const tree =
        request.view === "tree" ? toTree(id, await engine.read(() => readTree(orgId, id))) : undefined;
      return detailed(row, attempts, tree, hasMessageLimit(context));
    },

    async cancelExecution(request, context) {
      const { orgId } = callerOf(context);
      await require(orgId, request.executionId);
      await cancelTree(app, orgId, request.executionId);
      return toExecution(await require(orgId, request.executionId), hasMessageLimit(context));
    },

    async replayExecution(request, context) {
      const { orgId } = callerOf(context);
      const original = await require(orgId, request.executionId);
      const { deploymentId } = request;
      const trace = traceOf(app, context);
      const edited =
        request.input === undefined
          ? null
          : encodePayload(request.input as JsonObject, app.config.limits, hasExactNumbers(context));
      const input = edited?.text ?? null;
      const row = await inputs.store({
        orgId,
        input: edited?.value ?? {},
        key: null,
        store: (checked) => engine.write(() => replay({ original, input, deploymentId, checked, trace })),
      });
      return toExecution(row, hasMessageLimit(context));
    },

    async listExecutions(request, context) {
      const { entries, ...page } = await listPageOfExecutions(app, request, context);
      return create(ListExecutionsResponseSchema, { executions: entries, ...page });
    },

    async *watchExecution(request, context) {
      const { orgId } = callerOf(context);
      await require(orgId, request.executionId);
      yield* watchExecution(app, orgId, request, context.signal, hasMessageLimit(context));
    },

    async *downloadExecution(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.executionId);
      const text = request.field === "input" ? row.input : row.output;
      if (text === null) {
        throw noResource("output", row.execution_id, `The execution ${row.execution_id} has no output.`);
      }
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
        const data = new Uint8Array(bytes.subarray(at, at + chunkBytes));
        yield create(DownloadExecutionResponseSchema, { data });
      }
    },

    async *tailLogs(request, context) {
      const { orgId } = callerOf(context);
      if (request.executionId !== "") await require(orgId, request.executionId);
      const environment = environmentFilter(request.environment, context);
      yield* tailLogs(app, orgId, { ...request, environment }, context.signal);
    },
  };
}
