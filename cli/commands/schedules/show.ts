import { environment, json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { print, printJson } from "../../output.ts";
import { scheduleText } from "../../schedule-text.ts";

const show: Command = command({
  about: "The next ten runs, and the last ten ticks with what came of each.",
  args: {
    name: { type: "positional", description: "The agent or workflow that it runs" },
    environment: {
      ...environment.environment,
      description: "That of this environment instead of production",
    },
    ...json,
    ...verbose,
  },
  async run(values) {
    const schedules = await openConnection(values).client("schedules");
    const schedule = await schedules.getSchedule({
      name: values.name,
      environment: values.environment ?? "",
    });
    if (values.json) {
      const { ScheduleSchema } = await import("../../../proto/svc/v1/schedule_pb.ts");
      return printJson(ScheduleSchema, schedule);
    }
    print(scheduleText(schedule));
  },
});

export default show;
