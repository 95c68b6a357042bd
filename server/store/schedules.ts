/** Schedules. They belong to a target's name in an environment and outlive the deployments that define them. */
import type { TargetKind } from "../../project/definition.ts";
import { all, first, type Program } from "./engine.ts";

export interface ScheduleRow {
  org_id: string;
  schedule_id: string;
  environment: string;
  kind: TargetKind;
  name: string;
  project: string;
  /** Null when no active deployment defines it. */
  deployment_id: string | null;
  /** JSON of a ScheduleDefinition. */
  definition: string;
  paused: number;
  next_due_at: number | null;
}

const SELECT_ALL = `SELECT * FROM schedules WHERE org_id = ? AND environment = ? AND deployment_id IS NOT NULL
ORDER BY name`;
const SELECT_OF_DEPLOYMENT = "SELECT * FROM schedules WHERE org_id = ? AND deployment_id = ?";
const SELECT_ONE = `SELECT * FROM schedules
WHERE org_id = ? AND environment = ? AND name = ? AND deployment_id IS NOT NULL`;

export function* listSchedules(orgId: string, environment: string): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_ALL, orgId, environment);
}

export function* listSchedulesOf(orgId: string, deploymentId: string): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_OF_DEPLOYMENT, orgId, deploymentId);
}

export function* getSchedule(
  orgId: string,
  environment: string,
  name: string,
): Program<ScheduleRow | undefined> {
  return yield* first<ScheduleRow>(SELECT_ONE, orgId, environment, name);
}
