import { environment, json, verbose } from "../../arguments.ts";
import { type Command, command } from "../../command.ts";
import { openConnection } from "../../connection.ts";
import { print, printJson } from "../../output.ts";
import { say } from "../../say.ts";
import { lastCell, nextCells } from "../../schedule-text.ts";
import { table } from "../../table.ts";
import { cleanLine } from "../../text.ts";

const list: Command = command({
  args: {
    environment: {
      ...environment.environment,
      description: "Those of this environment instead of production",
    },
    ...json,
    ...verbose,
  },
  async run(values) {
    const schedules = await openConnection(values).client("schedules");
    const answer = await schedules.listSchedules({ environment: values.environment ?? "" });
    if (values.json) {
      const { ListSchedulesResponseSchema } = await import("../../../proto/svc/v1/schedule_pb.ts");
      return printJson(ListSchedulesResponseSchema, answer);
    }
    if (answer.schedules.length === 0) {
      say.line("No schedules found.");
      return say.hint("Add `schedules` to svc-project.yaml, then run `svc push`.");
    }
    const rows = answer.schedules.map((schedule) => [
      schedule.name,
      cleanLine(schedule.cron),
      cleanLine(schedule.timezone),
      ...nextCells(schedule),
      lastCell(schedule),
    ]);
    print(table(["NAME", "CRON", "ZONE", "NEXT RUN, IN ITS ZONE", "HERE", "LAST"], rows));
  },
});

export default list;
