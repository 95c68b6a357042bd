import { json, oneSchedule, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { print } from "../../output.ts";
import { callSchedule } from "../../schedule-call.ts";
import { scheduleText } from "../../schedule-text.ts";

const show: Command = command({
  about: "The next ten runs, and the last ten ticks with what came of each.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("getSchedule", values, (schedule) => print(scheduleText(schedule))),
});

export default show;
