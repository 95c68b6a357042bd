import { maxSchedules } from "../file/schedule.ts";
import { choice, flag, list, map, mapOf, name, number, ref, type Schema, text } from "./values.ts";

const keys: Record<string, Schema> = {
  cron: text("Minute, hour, day of month, month and day of week, for example 0 9 * * 1-5.", {
    pattern: "^\\s*[0-9A-Za-z*/,-]+([ \\t]+[0-9A-Za-z*/,-]+){4}\\s*$",
    examples: ["0 9 * * 1-5", "*/15 * * * *"],
  }),
  enabled: flag("Whether the schedule runs.", true),
  timezone: text("IANA name of the time zone, for example Europe/Berlin.", { default: "UTC" }),
  input: { type: "object", default: {}, description: "The input of each run." },
  overlap: choice(
    "A run that is due while the previous one has not finished: skip it, queue it, or allow both.",
    ["skip", "queue", "allow"],
    "skip",
  ),
  catch_up: number("Seconds up to which a missed run is started late. Older ones are recorded as missed.", {
    minimum: 0,
    maximum: 366 * 24 * 3600,
    default: 0,
  }),
};

export const schedule: Schema = map("A cron schedule.", keys, { required: ["cron"] });

export const namedSchedule: Schema = map(
  "One of several cron schedules of an agent or workflow.",
  {
    name: name("Name of the schedule, unique within its list. Commands name it <target>.<name>."),
    ...keys,
  },
  { required: ["name", "cron"] },
);

const scheduleOrList: Schema = {
  anyOf: [
    ref("schedule"),
    list("Schedules, each with a name of its own.", ref("namedSchedule"), { maxItems: maxSchedules }),
  ],
};

export const schedules: Schema = {
  ...map("Cron schedules by the name of the agent or workflow.", {
    agents: mapOf("Schedules of agents, by name: one schedule, or a list of named ones.", scheduleOrList),
    workflows: mapOf(
      "Schedules of workflows, by name: one schedule, or a list of named ones.",
      scheduleOrList,
    ),
  }),
  type: ["object", "null"],
};
