/** ScheduleService: the schedules of the active deployments. */
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ScheduleDefinition } from "../../project/definition.ts";
import {
  ListSchedulesResponseSchema,
  type Schedule,
  ScheduleSchema,
  type ScheduleService,
} from "../../proto/svc/v1/schedule_pb.ts";
import { callerOf } from "../auth.ts";
import { parseStored } from "../store/json.ts";
import { listSchedules, type ScheduleRow } from "../store/schedules.ts";
import type { App } from "./app.ts";
import { optionalTime } from "./convert.ts";
import { environmentOf } from "./request.ts";

export function scheduleService(app: App): ServiceImpl<typeof ScheduleService> {
  return {
    async listSchedules(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const rows = await app.engine.read(() => listSchedules(orgId, environment));
      return create(ListSchedulesResponseSchema, { schedules: rows.map(toSchedule) });
    },
  };
}

function toSchedule(row: ScheduleRow): Schedule {
  const definition = parseStored<ScheduleDefinition>(row.definition);
  return create(ScheduleSchema, {
    scheduleId: row.schedule_id,
    kind: row.kind,
    name: row.name,
    cron: definition.cron,
    timezone: definition.timezone,
    enabled: definition.enabled,
    environment: row.environment,
    deploymentId: row.deployment_id ?? "",
    nextRunAt: optionalTime(row.next_due_at),
  });
}
