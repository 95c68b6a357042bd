import { onSchedule } from "../../api/known-schedules.ts";
import { type Command, command } from "../../app/command.ts";
import { oneEnvironment, output, scheduleName } from "../../app/options.ts";
import { printResource } from "../../views/result.ts";
import { scheduleText } from "../../views/schedule.ts";

export default command({
  details: "Prints the next ten runs and the result of each of the last ten ticks.",
  args: { ...scheduleName, ...oneEnvironment, ...output },
  async run(values) {
    const schedule = await onSchedule(values, (schedules, named) => schedules.getSchedule(named));
    await printResource(schedule, values, () => scheduleText(schedule));
  },
}) as Command;
