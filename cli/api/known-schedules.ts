import type { Client } from "@connectrpc/connect";
import type { ScheduleService } from "../../proto/svc/v1/schedule_pb.ts";
import { type Connection, defaultEnvironment, openConnection } from "./connection.ts";
import { withSuggestion } from "./unknown-name.ts";

/** Sends a request about one schedule. When there is none of this name, the error suggests one of the environment. */
export async function onSchedule<Result>(
  values: { name: string; environment: string | undefined; verbose: boolean },
  request: (
    schedules: Client<typeof ScheduleService>,
    named: { name: string; environment: string },
  ) => Promise<Result>,
): Promise<Result> {
  const connection: Connection = openConnection(values);
  const schedules = await connection.client("schedules");
  const { name, environment = "" } = values;
  return withSuggestion(
    request(schedules, { name, environment }),
    { name, environment: environment || defaultEnvironment(connection) },
    async () => (await schedules.listSchedules({ environment })).schedules,
  );
}
