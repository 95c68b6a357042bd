import { environment, json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { print, printJson } from "../../output.ts";
import { say } from "../../say.ts";
import { out } from "../../style.ts";
import { table } from "../../table.ts";
import { cleanLine, distance, localTime, zonedTime } from "../../text.ts";
import { dateOf } from "../../times.ts";

const list: Command = command({
  args: {
    environment: {
      ...environment.environment,
      description: "Those of this environment instead of production",
    },
    ...json,
    ...verbose,
  },
  async run(values) {
    const schedules = await openConnection(values).client("schedules");
    const answer = await schedules.listSchedules({ environment: values.environment ?? "" });
    if (values.json) {
      const { ListSchedulesResponseSchema } = await import("../../../proto/svc/v1/schedule_pb.ts");
      return printJson(ListSchedulesResponseSchema, answer);
    }
    if (answer.schedules.length === 0) {
      say.line("No schedules found.");
      return say.hint("Add `schedules` to svc-project.yaml, then run `svc push`.");
    }
    const rows = answer.schedules.map((schedule) => {
      const next = dateOf(schedule.nextRunAt);
      const never = { text: schedule.enabled ? "never" : "disabled", paint: out.dim };
      return [
        schedule.name,
        cleanLine(schedule.cron),
        cleanLine(schedule.timezone),
        next === null ? never : zonedTime(next, schedule.timezone),
        next === null ? "" : `${localTime(next)} (${distance(next)})`,
      ];
    });
    print(table(["NAME", "CRON", "ZONE", "NEXT RUN, IN ITS ZONE", "HERE"], rows));
  },
});

export default list;
