import { json, oneSchedule, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { say } from "../../say.ts";
import { callSchedule } from "../../schedule-call.ts";
import { changedText } from "../../schedule-text.ts";

const resume: Command = command({
  about: "It runs again from its next time on; what it missed is not made up for.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("resumeSchedule", values, (schedule) => say.done(changedText(schedule))),
});

export default resume;
