import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { oneEnvironment, output } from "../../app/options.ts";
import { sanitizeLine } from "../../terminal/sanitize.ts";
import { printList } from "../../views/result.ts";
import { lastTickCell, nextRunCells } from "../../views/schedule.ts";

export default command({
  args: { ...oneEnvironment, ...output },
  async run(values) {
    const schedules = await connect("schedules", values);
    const page = await schedules.listSchedules({ environment: values.environment ?? "" });
    await printList(page, values, {
      headings: ["NAME", "CRON", "TIME ZONE", "NEXT RUN", "LOCAL TIME", "LAST RUN"],
      rows: page.schedules.map((schedule) => [
        schedule.name,
        sanitizeLine(schedule.cron),
        sanitizeLine(schedule.timezone),
        ...nextRunCells(schedule),
        lastTickCell(schedule),
      ]),
      empty: ["No schedules found.", "Add `schedules` to svc-project.yaml and run `svc push`."],
    });
  },
}) as Command;
