import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { oneEnvironment, output, scheduleName } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { printMessage } from "../../views/result.ts";
import { scheduleStateText } from "../../views/schedule.ts";

export default command({
  details: "A paused schedule stays paused across deployments until it is resumed.",
  args: { ...scheduleName, ...oneEnvironment, ...output },
  async run(values) {
    const { name, environment = "" } = values;
    const schedule = await (await connect("schedules", values)).pauseSchedule({ name, environment });
    if (values.json) return printMessage(schedule);
    report.success(scheduleStateText(schedule));
  },
}) as Command;
