/** Implements ScheduleService. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { nextRuns, parseCron } from "../../project/cron.ts";
import { type ScheduleDefinition, scheduledTarget } from "../../project/definition.ts";
import {
  ListSchedulesResponseSchema,
  type Schedule,
  ScheduleSchema,
  type ScheduleService,
  type Tick,
  TickSchema,
} from "../../proto/svc/v1/schedule_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { noResource } from "../errors.ts";
import { nextDue } from "../schedules/next-due.ts";
import { processDueTicksOfProject } from "../schedules/ticks.ts";
import type { Program } from "../store/engine.ts";
import { parseStored } from "../store/tables/json.ts";
import { lockOrganization } from "../store/tables/organizations.ts";
import {
  getSchedule,
  lastTicks,
  listSchedules,
  listTicks,
  type ScheduleRow,
  setPaused,
  type TickWithStatus,
} from "../store/tables/schedules.ts";
import type { App } from "./app.ts";
import { audit } from "./audit.ts";
import { optionalTime } from "./convert.ts";
import { listPage, pageOf, rowsAfter } from "./page.ts";
import { environmentOf } from "./request.ts";

const maxNextRuns = 10;
const maxTicks = 10;

export function scheduleService(app: App): ServiceImpl<typeof ScheduleService> {
  const { engine } = app;

  function* require(orgId: string, environment: string, name: string): Program<ScheduleRow> {
    const row = yield* getSchedule(orgId, environment, name);
    if (row === undefined) {
      throw noResource("schedule", name, `There is no schedule for '${name}' in ${environment}.`);
    }
    return row;
  }

  async function setPausedByName(
    paused: boolean,
    request: { name: string; environment: string },
    context: HandlerContext,
  ): Promise<Schedule> {
    const caller = callerOf(context);
    const { orgId } = caller;
    const environment = environmentOf(request.environment, context);
    const row = await engine.write(function* () {
      yield* lockOrganization(orgId);
      const found = yield* require(orgId, environment, request.name);
      // Pausing a paused schedule changes nothing and is not audited.
      if ((found.paused === 1) === paused) return found;
      const definition = parseStored<ScheduleDefinition>(found.definition);
      yield* processDueTicksOfProject(found, Date.now());
      yield* setPaused(orgId, found.schedule_id, paused, paused ? null : nextDue(definition, Date.now()));
      const changed = yield* require(orgId, environment, found.name);
      const action = paused ? "schedule.paused" : "schedule.resumed";
      const { name } = found;
      yield* audit(caller, action, `schedule of ${found.kind} '${name}'`, { name, environment });
      return changed;
    });
    return toSchedule(row, undefined);
  }

  return {
    async listSchedules(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const page = pageOf(request, ["ListSchedules", environment, request.view], 1000);
      const { rows, ticks } = await engine.read(function* () {
        const rows = yield* listSchedules(orgId, environment);
        const ids = rows.map((row) => row.schedule_id);
        return { rows, ticks: yield* lastTicks(orgId, ids) };
      });
      const keyOf = ({ name }: ScheduleRow) => name;
      const { entries, nextPageToken } = await listPage(page, {
        read: rowsAfter(rows, keyOf),
        keyOf,
        schema: ScheduleSchema,
        convert: (row: ScheduleRow) => toSchedule(row, ticks.get(row.schedule_id), request.view === "full"),
      });
      return create(ListSchedulesResponseSchema, { schedules: entries, nextPageToken });
    },

    async getSchedule(request, context) {
      const { orgId } = callerOf(context);
      const environment = environmentOf(request.environment, context);
      const { row, ticks } = await engine.read(function* () {
        const row = yield* require(orgId, environment, request.name);
        return { row, ticks: yield* listTicks(orgId, row.schedule_id, maxTicks) };
      });
      const message = toSchedule(row, ticks[0]);
      message.ticks = ticks.map(toTick);
      if (row.next_due_at !== null) {
        const from = new Date(row.next_due_at - 1);
        const runs = nextRuns(parseCron(message.cron), message.timezone, from, maxNextRuns);
        message.nextRuns = runs.map(timestampFromDate);
      }
      return message;
    },

    pauseSchedule: (request, context) => setPausedByName(true, request, context),
    resumeSchedule: (request, context) => setPausedByName(false, request, context),
  };
}

function toSchedule(row: ScheduleRow, last: TickWithStatus | undefined, withInput = true): Schedule {
  const definition = parseStored<ScheduleDefinition>(row.definition);
  return create(ScheduleSchema, {
    scheduleId: row.schedule_id,
    kind: row.kind,
    name: row.name,
    target: scheduledTarget(definition),
    cron: definition.cron,
    timezone: definition.timezone,
    enabled: definition.enabled,
    environment: row.environment,
    deploymentId: row.deployment_id ?? "",
    nextRunAt: optionalTime(row.next_due_at),
    paused: row.paused === 1,
    overlap: definition.overlap,
    catchUp: durationFromMs(definition.catchUpSeconds * 1000),
    input: withInput ? definition.input : undefined,
    lastTick: last === undefined ? undefined : toTick(last),
  });
}

function toTick(row: TickWithStatus): Tick {
  return create(TickSchema, {
    dueAt: timestampFromMs(row.due_at),
    outcome: row.outcome,
    reason: row.reason,
    executionId: row.execution_id ?? "",
    executionStatus: row.status ?? "",
  });
}
