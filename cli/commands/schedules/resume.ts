import { callSchedule } from "../../api/schedule-call.ts";
import { type Command, command } from "../../app/command.ts";
import { json, oneSchedule, verbose } from "../../app/options.ts";
import { say } from "../../terminal/report.ts";
import { changedText } from "../../views/schedule.ts";

const resume: Command = command({
  about: "It runs again from its next time on; what it missed is not made up for.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("resumeSchedule", values, (schedule) => say.done(changedText(schedule))),
});

export default resume;
