import { callSchedule } from "../../api/schedule-call.ts";
import { type Command, command } from "../../app/command.ts";
import { json, oneSchedule, verbose } from "../../app/options.ts";
import { say } from "../../terminal/report.ts";
import { changedText } from "../../views/schedule.ts";

const pause: Command = command({
  about: "It stays paused across deployments, until it is resumed.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("pauseSchedule", values, (schedule) => say.done(changedText(schedule))),
});

export default pause;
