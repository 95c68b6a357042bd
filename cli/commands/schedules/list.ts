import { defaultEnvironment, openConnection } from "../../api/connection.ts";
import { readPages } from "../../api/pages.ts";
import { type Command, command } from "../../app/command.ts";
import { fullListLimit, oneEnvironment, output, paging } from "../../app/options.ts";
import { printList } from "../../views/result.ts";
import { lastTickCell, nextRunCells } from "../../views/schedule.ts";

export default command({
  args: { ...fullListLimit, ...paging, ...oneEnvironment, ...output },
  async run(values) {
    const connection = openConnection(values);
    const { environment = "" } = values;
    const client = await connection.client("schedules");
    const page = await readPages(
      values,
      (request) => client.listSchedules({ environment, ...request }),
      (all, next) => all.schedules.push(...next.schedules),
    );
    await printList(page, values, {
      columns: [
        { title: "NAME", role: "name" },
        { title: "CRON", role: "extra" },
        { title: "TIME ZONE", role: "extra" },
        "NEXT RUN",
        { title: "LOCAL TIME", role: "extra" },
        "LAST RUN",
      ],
      rows: page.schedules.map((schedule) => [
        schedule.name,
        schedule.cron,
        schedule.timezone,
        ...nextRunCells(schedule),
        lastTickCell(schedule),
      ]),
      empty: [
        `No schedules found in ${environment || defaultEnvironment(connection)}.`,
        "Add `schedules` to svc-project.yaml and run `svc push`.",
      ],
    });
  },
}) as Command;
