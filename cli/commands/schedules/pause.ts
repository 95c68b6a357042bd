import { environment, json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { printJson } from "../../output.ts";
import { say } from "../../say.ts";
import { changedText } from "../../schedule-text.ts";

const pause: Command = command({
  about: "It stays paused across deployments, until it is resumed.",
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
    const schedule = await schedules.pauseSchedule({
      name: values.name,
      environment: values.environment ?? "",
    });
    if (values.json) {
      const { ScheduleSchema } = await import("../../../proto/svc/v1/schedule_pb.ts");
      return printJson(ScheduleSchema, schedule);
    }
    say.done(changedText(schedule));
  },
});

export default pause;
