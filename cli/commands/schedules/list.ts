import { openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { environment, json, verbose } from "../../app/options.ts";
import { cleanLine } from "../../terminal/format.ts";
import { print, printJson } from "../../terminal/output.ts";
import { say } from "../../terminal/report.ts";
import { table } from "../../terminal/table.ts";
import { lastCell, nextCells } from "../../views/schedule.ts";

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
