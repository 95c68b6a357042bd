import { json, oneSchedule, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { say } from "../../say.ts";
import { callSchedule } from "../../schedule-call.ts";
import { changedText } from "../../schedule-text.ts";

const pause: Command = command({
  about: "It stays paused across deployments, until it is resumed.",
  args: { ...oneSchedule, ...json, ...verbose },
  run: (values) => callSchedule("pauseSchedule", values, (schedule) => say.done(changedText(schedule))),
});

export default pause;
