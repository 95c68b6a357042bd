/** Statistics, upcoming schedules and the latest executions, live. */
import { useState } from "preact/hooks";
import type { Statistics, StatisticsPoint } from "../../proto/svc/v1/statistics_pb.ts";
import { Card, Empty, Heading, Id, Loading, Status, Time } from "../components/basics.tsx";
import { Chart } from "../components/chart.tsx";
import { Table } from "../components/table.tsx";
import { api } from "../lib/api.ts";
import { dateOf, durationText, numberText, secondsOf } from "../lib/format.ts";
import { useLoad, useStream } from "../lib/load.ts";
import { href, setQuery } from "../lib/router.ts";
import { columns } from "./executions.tsx";
import { listSchedules, stateOf } from "./schedules.tsx";

const periods = [
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
] as const;

export function OverviewPage({ query }: { query: URLSearchParams }) {
  const period = periods.find(([name]) => name === query.get("period"))?.[0] ?? "1h";
  const [statistics, setStatistics] = useState<Statistics | null>(null);
  const [changes, setChanges] = useState(0);
  const { broken } = useStream(async (signal) => {
    for await (const next of api.statistics.watchStatistics({ period, follow: true }, { signal })) {
      setStatistics(next);
      setChanges((count) => count + 1);
    }
    return false;
  }, period);
  return (
    <>
      <Heading title="Overview">
        <fieldset class="periods">
          <legend class="hidden">Period</legend>
          {periods.map(([name, title]) => (
            <label key={name} class={name === period ? "chosen" : ""}>
              <input
                type="radio"
                name="period"
                checked={name === period}
                onChange={() => setQuery({ period: name })}
              />
              {title}
            </label>
          ))}
        </fieldset>
      </Heading>
      {broken ? <p class="dim">The connection is interrupted. Reconnecting …</p> : null}
      {statistics === null ? <Loading /> : <Figures statistics={statistics} />}
      <Recent changes={changes} />
    </>
  );
}

function Figures({ statistics }: { statistics: Statistics }) {
  const { points, total, queued, oldestQueued } = statistics;
  if (total === undefined) return null;
  const times = points.map(({ at }) => Number(at?.seconds ?? 0));
  const count = (name: "accepted" | "rejected" | "ignored" | "succeeded" | "failed" | "cancelled") =>
    points.map((point) => Number(point[name]));
  const time = (name: "p50" | "p95") =>
    points.map((point) => (point[name] === undefined ? null : secondsOf(point[name]) * 1000));
  return (
    <>
      <div class="tiles">
        <Tile label="succeeded" value={numberText(total.succeeded)} />
        <Tile label="failed" value={numberText(total.failed)} kind={total.failed > 0n ? "bad" : ""} />
        <Tile label="50 % within" value={durationOf(total, "p50")} />
        <Tile label="95 % within" value={durationOf(total, "p95")} />
        <Tile
          label={
            oldestQueued === undefined
              ? "queued"
              : `queued, oldest ${durationText(secondsOf(oldestQueued) * 1000)}`
          }
          value={numberText(queued)}
        />
        <Tile label="webhooks accepted" value={numberText(total.accepted)} />
        <Tile
          label="webhooks rejected"
          value={numberText(total.rejected)}
          kind={total.rejected > 0n ? "bad" : ""}
        />
      </div>
      <div class="columns">
        <Card title="Executions">
          <Chart
            label="Ended executions"
            times={times}
            format={numberText}
            series={[
              { label: "succeeded", color: "good", values: count("succeeded") },
              { label: "failed", color: "bad", values: count("failed") },
              { label: "cancelled", color: "dim", values: count("cancelled") },
            ]}
          />
        </Card>
        <Card title="Webhooks">
          <Chart
            label="Requests to webhooks"
            times={times}
            format={numberText}
            series={[
              { label: "accepted", color: "busy", values: count("accepted") },
              { label: "rejected", color: "bad", values: count("rejected") },
              { label: "ignored", color: "dim", values: count("ignored") },
            ]}
          />
        </Card>
        <Card title="Duration">
          <Chart
            label="Time from acceptance to end"
            times={times}
            format={durationText}
            series={[
              { label: "p50", color: "busy", values: time("p50"), total: durationOf(total, "p50") },
              { label: "p95", color: "warn", values: time("p95"), total: durationOf(total, "p95") },
            ]}
          />
        </Card>
        <Upcoming />
      </div>
    </>
  );
}

function durationOf(point: StatisticsPoint, name: "p50" | "p95"): string {
  const duration = point[name];
  return duration === undefined ? "–" : durationText(secondsOf(duration) * 1000);
}

function Tile({ label, value, kind = "" }: { label: string; value: string; kind?: string }) {
  return (
    <div class="tile">
      <div class={`value ${kind}`}>{value}</div>
      <div class="label">{label}</div>
    </div>
  );
}

function Upcoming() {
  const { data } = useLoad(listSchedules, "schedules");
  const next = (data ?? [])
    .filter((schedule) => schedule.nextRunAt !== undefined && stateOf(schedule) === "active")
    .toSorted((a, b) => (dateOf(a.nextRunAt)?.getTime() ?? 0) - (dateOf(b.nextRunAt)?.getTime() ?? 0))
    .slice(0, 6);
  return (
    <Card title="Upcoming schedules">
      {next.length === 0 ? (
        <p class="dim">None.</p>
      ) : (
        <ul class="plain">
          {next.map(({ scheduleId, name, environment, nextRunAt }) => (
            <li key={scheduleId}>
              <a href={href(["schedules", name], { environment })}>{name}</a>{" "}
              <span class="dim">{environment}</span> <Time value={nextRunAt} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Loaded again when the statistics have changed. */
function Recent({ changes }: { changes: number }) {
  const { data } = useLoad(
    async (signal) => {
      const [{ executions }, { deployments }] = await Promise.all([
        api.executions.listExecutions({ pageSize: 8 }, { signal }),
        api.deployments.listDeployments({ status: "active", pageSize: 8 }, { signal }),
      ]);
      return { executions, deployments };
    },
    "recent",
    changes,
  );
  if (data === undefined) return null;
  const { executions, deployments } = data;
  if (deployments.length === 0) {
    return (
      <Empty title="Nothing is deployed yet.">
        <p>
          <code>svc init hello</code> creates a project, and <code>svc push</code> deploys it.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Card title="Latest executions">
        {executions.length === 0 ? (
          <p class="dim">
            None yet. <a href={href(["run"])}>Run an agent</a>.
          </p>
        ) : (
          <Table
            label="Latest executions"
            columns={columns}
            rows={executions}
            keyOf={(row) => row.executionId}
          />
        )}
      </Card>
      <Card title="Active deployments">
        <ul class="plain">
          {deployments.map(({ deploymentId, project, version, environment, activatedAt }) => (
            <li key={deploymentId}>
              <a href={href(["deployments", deploymentId])}>
                {project} {version} <Id value={deploymentId} />
              </a>{" "}
              <Status value={environment} /> <Time value={activatedAt} />
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}
