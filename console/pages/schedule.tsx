/** One schedule: next runs, past ticks, pause and resume. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Schedule, Tick } from "../../proto/svc/v1/schedule_pb.ts";
import {
  Card,
  Facts,
  Failure,
  FullTime,
  Heading,
  Id,
  Json,
  Loading,
  Status,
  Time,
} from "../components/basics.tsx";
import { type Column, Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { dateOf, locale, localTime } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { go, href } from "../lib/router.ts";
import { allows } from "../lib/session.ts";
import { stateOf } from "./schedules.tsx";

const columns: readonly Column<Tick>[] = [
  { title: "Due", cell: ({ dueAt }) => <FullTime value={dueAt} /> },
  { title: "Outcome", cell: ({ outcome }) => <Status value={outcome} /> },
  { title: "Reason", cell: ({ reason }) => reason },
  {
    title: "Execution",
    cell: ({ executionId, executionStatus }) =>
      executionId === "" ? (
        ""
      ) : (
        <a href={href(["executions", executionId])}>
          <Id value={executionId} /> {executionStatus}
        </a>
      ),
  },
];

export function SchedulePage({ name, query }: { name: string; query: URLSearchParams }) {
  const environment = query.get("environment") ?? "";
  const { data, error, loading, reload } = useLoad(
    (signal) => api.schedules.getSchedule({ name, environment }, { signal }),
    `${environment}/${name}`,
  );
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  const { cron, timezone, overlap, nextRuns, ticks } = data;
  return (
    <>
      <Heading title={name}>
        <Actions schedule={data} onChange={reload} />
      </Heading>
      <Card title="Summary">
        <Facts
          entries={[
            ["Status", <Status key="s" value={stateOf(data)} />],
            ["Cron", <code key="c">{cron}</code>],
            ["Time zone", timezone],
            ["Environment", data.environment],
            ["Overlap", overlap],
            ["Next run", <Time key="n" value={data.nextRunAt} />],
          ]}
        />
      </Card>
      <div class="columns">
        <Card title="Next runs">
          <ol class="runs">
            {nextRuns.map((run) => (
              <li key={String(run.seconds)}>
                <FullTime value={run} /> <span class="dim">{inZone(run, timezone)}</span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="Input">
          <Json value={data.input ?? {}} label="input" />
        </Card>
      </div>
      <Card title="Past ticks">
        {ticks.length === 0 ? (
          <p class="dim">None yet.</p>
        ) : (
          <Table
            label="Past ticks"
            columns={columns}
            rows={ticks}
            keyOf={({ dueAt }) => String(dueAt?.seconds)}
          />
        )}
      </Card>
    </>
  );
}

/** The time in the zone of the schedule, when it differs from the local one. */
function inZone(run: Timestamp, timezone: string): string {
  const date = dateOf(run);
  if (date === null) return "";
  const text = new Intl.DateTimeFormat(locale, {
    timeZone: timezone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  }).format(date);
  return localTime(date) === "" ? text : `${text} ${timezone}`;
}

function Actions({ schedule, onChange }: { schedule: Schedule; onChange(): Promise<void> }) {
  const { name, kind, environment, enabled, paused, input } = schedule;
  const change = (done: string, work: () => Promise<unknown>) =>
    act(done, async () => {
      await work();
      await onChange();
    });
  return (
    <>
      {!enabled || !allows("deploy") ? null : paused ? (
        <button
          type="button"
          onClick={() => void change("Resumed.", () => api.schedules.resumeSchedule({ name, environment }))}
        >
          Resume
        </button>
      ) : (
        <button
          type="button"
          onClick={() => void change("Paused.", () => api.schedules.pauseSchedule({ name, environment }))}
        >
          Pause
        </button>
      )}
      {allows("trigger") ? (
        <button
          type="button"
          class="primary"
          onClick={() =>
            void act("The execution is queued.", async () => {
              const json = (input ?? {}) as JsonObject;
              const started = await api.executions.runExecution({ name, kind, environment, input: json });
              go(["executions", started.executionId]);
            })
          }
        >
          Run now
        </button>
      ) : null}
    </>
  );
}
