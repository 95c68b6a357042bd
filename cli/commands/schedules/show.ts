import { callSchedule } from "../../api/schedule-call.ts";
import { type Command, command } from "../../app/command.ts";
import { json, oneSchedule, verbose } from "../../app/options.ts";
import { print } from "../../terminal/output.ts";
import { scheduleText } from "../../views/schedule.ts";

const show: Command = command({
  about: "The next ten runs, and the last ten ticks with what came of each.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("getSchedule", values, (schedule) => print(scheduleText(schedule))),
});

export default show;
