/** Schedules with their next runs. */
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import { Empty, Failure, Heading, Loading, Status, Time } from "../components/basics.tsx";
import { type Column, Table } from "../components/table.tsx";
import { api, environments } from "../lib/api.ts";
import { useInterval, useLoad } from "../lib/load.ts";
import { href } from "../lib/router.ts";

const columns: readonly Column<Schedule>[] = [
  {
    title: "Name",
    cell: ({ name, environment }) => <a href={href(["schedules", name], { environment })}>{name}</a>,
  },
  { title: "Status", cell: (schedule) => <Status value={stateOf(schedule)} /> },
  {
    title: "Schedule",
    cell: ({ cron, timezone }) => (
      <>
        <code>{cron}</code> <span class="dim">{timezone}</span>
      </>
    ),
  },
  { title: "Environment", cell: ({ environment }) => environment, wide: true },
  { title: "Next run", cell: ({ nextRunAt }) => <Time value={nextRunAt} /> },
];

export function stateOf({ enabled, paused }: Schedule): string {
  if (!enabled) return "disabled";
  return paused ? "paused" : "active";
}

/** Of all environments of the address. */
export async function listSchedules(signal: AbortSignal): Promise<Schedule[]> {
  const lists = await Promise.all(
    (await environments(signal)).map((environment) =>
      api.schedules.listSchedules({ environment, pageSize: 1000 }, { signal }),
    ),
  );
  return lists.flatMap(({ schedules }) => schedules);
}

export function SchedulesPage() {
  const { data, error, loading, reload } = useLoad(listSchedules, "schedules");
  useInterval(reload, 10);
  return (
    <>
      <Heading title="Schedules" />
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : data.length === 0 ? (
        <Empty title="No schedules are deployed.">
          <p>
            Add one to <code>schedules</code> in the project file.
          </p>
        </Empty>
      ) : (
        <Table label="Schedules" columns={columns} rows={data} keyOf={({ scheduleId }) => scheduleId} />
      )}
    </>
  );
}
