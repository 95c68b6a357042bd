import { beforeAll, expect, test } from "vitest";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { call, expectError, ok } from "../../support/rest.ts";
import type { DeploymentJson, ScheduleJson } from "../../support/shapes.ts";
import { onRuntime } from "../../support/suite.ts";

const minute = 60_000;

const project = (version: string, cron = "*/5 * * * *"): ProjectSource => ({
  version,
  agents: {
    often: "export default () => 1;",
    daily: "export default () => 2;",
    off: "export default () => 3;",
  },
  workflows: { weekly: "export default () => 4;", summary: "export default () => 5;" },
  schedules: {
    agents: {
      often: { cron, overlap: "queue", catch_up: 90, input: { from: "schedule" } },
      daily: { cron: "30 8 * * *", timezone: "America/New_York" },
      off: { cron: "* * * * *", enabled: false },
    },
    workflows: {
      weekly: { cron: "0 0 * * MON" },
      summary: [
        { name: "first", cron: "0 1 * * *" },
        { name: "second", cron: "0 2 * * *", input: { days: 2 } },
      ],
    },
  },
});

onRuntime("bun", "schedules", {}, (server) => {
  let deployment: DeploymentJson;
  beforeAll(async () => {
    deployment = await deploy(server, project("1"));
  });

  const get = (name: string) => ok<ScheduleJson>(server, "GET", `/api/v1/schedules/${name}`);
  const act = (name: string, verb: string) =>
    call<ScheduleJson>(server, "POST", `/api/v1/schedules/${name}/${verb}`, { json: {} });

  test("are listed by name, with their definition and next run", async () => {
    const { schedules } = await ok<{ schedules: ScheduleJson[] }>(
      server,
      "GET",
      "/api/v1/schedules?view=full",
    );
    expect(schedules.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      "agent daily",
      "agent off",
      "agent often",
      "workflow summary.first",
      "workflow summary.second",
      "workflow weekly",
    ]);
    expect(schedules[2]).toMatchObject({
      schedule_id: expect.stringMatching(/^sch_/),
      cron: "*/5 * * * *",
      timezone: "UTC",
      enabled: true,
      paused: false,
      overlap: "queue",
      catch_up: "90s",
      input: { from: "schedule" },
      environment: "production",
      deployment_id: deployment.deployment_id,
    });
    const [daily, off] = schedules;
    expect(daily).toMatchObject({ overlap: "skip", catch_up: "0s", timezone: "America/New_York" });
    expect(off).toMatchObject({ enabled: false });
    expect(off?.next_run_at).toBeUndefined();
    expect((await ok<{ schedules: [] }>(server, "GET", "/env/staging/api/v1/schedules")).schedules).toEqual(
      [],
    );
  });

  test("of one target are separate: each is paused by its name", async () => {
    const { json } = await act("summary.second", "pause");
    expect(json).toMatchObject({
      name: "summary.second",
      target: "summary",
      paused: true,
      input: { days: 2 },
    });
    expect((await get("summary.first")).paused).toBe(false);
    await act("summary.second", "resume");
  });

  test("show the next ten runs, computed in the time zone of the schedule", async () => {
    const often = await get("often");
    const times = often.next_runs.map((time) => Date.parse(time));
    expect(times.length).toBe(10);
    expect(times[0]).toBe(Date.parse(often.next_run_at ?? ""));
    expect(
      times.every(
        (time, index) =>
          time % (5 * minute) === 0 && (index === 0 || time - (times[index - 1] ?? 0) === 5 * minute),
      ),
    ).toBe(true);
    expect((times[0] ?? 0) - Date.now()).toBeLessThanOrEqual(5 * minute);
    const local = new Intl.DateTimeFormat("en-GB", { timeZone: "America/New_York", timeStyle: "short" });
    const daily = await get("daily");
    expect(new Set(daily.next_runs.map((time) => local.format(Date.parse(time))))).toEqual(
      new Set(["08:30"]),
    );
    expect((await get("off")).next_runs).toEqual([]);
    expect(often.ticks).toEqual([]);
  });

  test("are part of the deployment", async () => {
    const record = await ok<DeploymentJson>(server, "GET", `/api/v1/deployments/${deployment.deployment_id}`);
    const often = await get("often");
    expect(record.schedules.map(({ name, next_run_at }) => [name, next_run_at])).toContainEqual([
      "often",
      often.next_run_at,
    ]);
  });

  test("stay paused across deployments and restarts until they are resumed", async () => {
    for (let times = 0; times < 2; times++) {
      const { json } = await act("often", "pause");
      expect(json.paused).toBe(true);
      expect(json.next_run_at).toBeUndefined();
    }
    expect((await get("often")).next_runs).toEqual([]);
    const next = await deploy(server, project("2", "*/10 * * * *"));
    expect(await get("often")).toMatchObject({
      paused: true,
      cron: "*/10 * * * *",
      deployment_id: next.deployment_id,
      next_runs: [],
    });
    await server.restart();
    expect((await get("often")).paused).toBe(true);
    for (let times = 0; times < 2; times++) {
      const { json } = await act("often", "resume");
      expect(json.paused).toBe(false);
      expect(Date.parse(json.next_run_at ?? "")).toBeGreaterThan(Date.now());
    }
    const again = await call<DeploymentJson>(
      server,
      "POST",
      `/api/v1/deployments/${deployment.deployment_id}/rollback`,
      { json: {} },
    );
    expect(again.json.status).toBe("active");
    expect(await get("often")).toMatchObject({ cron: "*/5 * * * *", paused: false });
  });

  test("return not_found for an unknown name", async () => {
    for (const [method, path] of [
      ["GET", "/api/v1/schedules/unknown"],
      ["POST", "/api/v1/schedules/unknown/pause"],
      ["POST", "/api/v1/schedules/unknown/resume"],
      ["GET", "/env/staging/api/v1/schedules/often"],
    ] as const) {
      expectError(await call(server, method, path), 404, "not_found", /^There is no schedule for '/);
    }
  });

  test("end when the next deployment does not define them", async () => {
    await deploy(server, { version: "3", agents: { often: "export default () => 1;" } });
    expect((await ok<{ schedules: [] }>(server, "GET", "/api/v1/schedules")).schedules).toEqual([]);
    expect((await call(server, "GET", "/api/v1/schedules/often")).status).toBe(404);
  });
});
