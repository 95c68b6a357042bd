import { defaultEnvironment, openConnection } from "../../api/connection.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, oneEnvironment, output } from "../../app/options.ts";
import { printList } from "../../views/result.ts";
import { lastTickCell, nextRunCells } from "../../views/schedule.ts";

export default command({
  args: { ...fullListLimit, ...oneEnvironment, ...output },
  async run(values) {
    const connection = openConnection(values);
    const { environment = "" } = values;
    const page = await (await connection.client("schedules")).listSchedules({ environment });
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
      empty: [
        `No schedules found in ${environment || defaultEnvironment(connection)}.`,
        "Add `schedules` to svc-project.yaml and run `svc push`.",
      ],
    });
  },
}) as Command;
