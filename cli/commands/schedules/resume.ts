import { onSchedule } from "../../api/known-schedules.ts";
import { type Command, command } from "../../app/command.ts";
import { oneEnvironment, output, scheduleName } from "../../app/options.ts";
import { report } from "../../terminal/report.ts";
import { printMessage } from "../../views/result.ts";
import { scheduleStateText } from "../../views/schedule.ts";

export default command({
  details: "The schedule continues with its next run. Missed runs are not caught up.",
  args: { ...scheduleName, ...oneEnvironment, ...output },
  async run(values) {
    const schedule = await onSchedule(values, (schedules, named) => schedules.resumeSchedule(named));
    if (values.json) return printMessage(schedule);
    report.success(scheduleStateText(schedule));
  },
}) as Command;
