import { onSchedule } from "../../api/known-schedules.ts";
import { type Command, command } from "../../app/command.ts";
import { oneEnvironment, output, scheduleName } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { printMessage } from "../../views/result.ts";
import { scheduleStateText } from "../../views/schedule.ts";

export default command({
  details: "A paused schedule stays paused across deployments until it is resumed.",
  args: { ...scheduleName, ...oneEnvironment, ...output },
  async run(values) {
    const schedule = await onSchedule(values, (schedules, named) => schedules.pauseSchedule(named));
    if (values.json) return printMessage(schedule);
    report.success(scheduleStateText(schedule));
  },
}) as Command;
