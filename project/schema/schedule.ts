import { choice, flag, map, mapOf, number, ref, type Schema, text } from "./values.ts";

export const schedules: Schema = {
  ...map("Cron schedules by the name of the agent or workflow.", {
    agents: mapOf("Schedules of agents, by name.", ref("schedule")),
    workflows: mapOf("Schedules of workflows, by name.", ref("schedule")),
  }),
  type: ["object", "null"],
};

export const schedule: Schema = map(
  "A cron schedule.",
  {
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
  },
  { required: ["cron"] },
);
