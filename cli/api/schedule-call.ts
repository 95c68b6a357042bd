import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import { printJson } from "../terminal/output.ts";
import { openConnection } from "./connection.ts";

/** Calls a method about one schedule, and prints the schedule: as JSON if that is wanted, else as `show` does it. */
export async function callSchedule(
  method: "getSchedule" | "pauseSchedule" | "resumeSchedule",
  values: { name: string; environment: string | undefined; json: boolean; verbose: boolean },
  show: (schedule: Schedule) => void,
): Promise<void> {
  const schedules = await openConnection(values).client("schedules");
  const schedule = await schedules[method]({ name: values.name, environment: values.environment ?? "" });
  if (!values.json) return show(schedule);
  const { ScheduleSchema } = await import("../../proto/svc/v1/schedule_pb.ts");
  await printJson(ScheduleSchema, schedule);
}
