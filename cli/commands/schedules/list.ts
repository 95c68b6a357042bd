import { connect } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, oneEnvironment, output } from "../../app/options.ts";
import { printList } from "../../views/result.ts";
import { lastTickCell, nextRunCells } from "../../views/schedule.ts";

export default command({
  args: { ...fullListLimit, ...oneEnvironment, ...output },
  async run(values) {
    const page = await (await connect("schedules", values)).listSchedules({
      environment: values.environment ?? "",
    });
    const schedules = page.schedules.slice(0, values.limit);
    await printList({ ...page, schedules }, values, {
      columns: [
        { title: "NAME", role: "name" },
        { title: "CRON", role: "extra" },
        { title: "TIME ZONE", role: "extra" },
        "NEXT RUN",
        { title: "LOCAL TIME", role: "extra" },
        "LAST RUN",
      ],
      rows: schedules.map((schedule) => [
        schedule.name,
        schedule.cron,
        schedule.timezone,
        ...nextRunCells(schedule),
        lastTickCell(schedule),
      ]),
      hasMore: schedules.length < page.schedules.length,
      empty: ["No schedules found.", "Add `schedules` to svc-project.yaml and run `svc push`."],
    });
  },
}) as Command;
