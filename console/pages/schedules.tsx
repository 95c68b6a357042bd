/** Schedules with their next runs. */
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import { Empty, Failure, Heading, Loading, Status, Time } from "../components/basics.tsx";
import { type Column, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
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

export function SchedulesPage() {
  const { data, error, loading, reload } = useLoad(
    (signal) => api.schedules.listSchedules({ pageSize: 1000 }, { signal }),
    "schedules",
  );
  useInterval(reload, 10);
  return (
    <>
      <Heading title="Schedules" />
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : data.schedules.length === 0 ? (
        <Empty title="No schedules are deployed.">
          <p>
            Add one to <code>schedules</code> in the project file.
          </p>
        </Empty>
      ) : (
        <Table
          label="Schedules"
          columns={columns}
          rows={data.schedules}
          keyOf={({ scheduleId }) => scheduleId}
        />
      )}
    </>
  );
}
