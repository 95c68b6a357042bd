import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { sanitizeLine } from "../terminal/sanitize.ts";
import { fields, paragraphs, section } from "../terminal/table.ts";
import { nextRunCells, stateOf } from "../views/schedule.ts";
import type { DevStart } from "./events.ts";

/** The server, before the first deployment. */
export function startText(start: DevStart): string {
  const { baseUrl, dataDir, isTemporary, isolation, secrets, otherConnection } = start;
  const rows = fields([
    ["address", colors.bold(baseUrl)],
    ["data", isTemporary ? `${dataDir} (removed at the end)` : dataDir],
    ["agents on", isolation],
    ["secrets", secrets.join(", ")],
  ]);
  return paragraphs([rows, otherConnection === "" ? "" : `${colors.yellow("warning:")} ${otherConnection}`]);
}

/** The webhooks with their URLs, and the schedules with their next runs. */
export function contentsText({ webhooks }: Deployment, schedules: readonly Schedule[]): string {
  const urls = webhooks.map(({ name, slug, url, signatureScheme }) => {
    const signed = signatureScheme === "" ? "" : colors.dim(`  signature: ${signatureScheme}`);
    return `${colors.cyan(`${name}/${slug}`)}${signed}\n  ${url}`;
  });
  const width = Math.max(0, ...schedules.map(({ name }) => name.length));
  const runs = schedules.map((schedule) => {
    const [, local] = nextRunCells(schedule);
    const next = local === "" ? stateOf(schedule) : `next run ${local}`;
    const cron = sanitizeLine(`${schedule.cron} ${schedule.timezone}`);
    return `${colors.cyan(schedule.name.padEnd(width))}  ${cron}  ${colors.dim(next)}`;
  });
  return paragraphs([section("Webhooks", urls), section("Schedules", runs)]);
}
