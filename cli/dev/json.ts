/** Prints each event as one line of JSON, with the names of the REST API. */
import type { Message } from "@bufbuild/protobuf";
import { print } from "../terminal/output.ts";
import { lineJson } from "../terminal/sanitize.ts";
import { toRestJson } from "../views/result.ts";
import type { DevReporter } from "./events.ts";

type Values = Readonly<Record<string, unknown>>;

export function jsonReporter(): DevReporter {
  const event = (name: string, values: Values = {}): void => {
    print(lineJson({ event: name, time: new Date().toISOString(), ...values }));
  };
  /** Conversions are asynchronous. The lines stay in the order of the calls. */
  let last: Promise<void> = Promise.resolve();
  const messages = (name: string, values: Values, parts: Record<string, Message | readonly Message[]>) => {
    last = last.then(async () => {
      const converted: [string, unknown][] = [];
      for (const [key, part] of Object.entries(parts)) {
        const json = Array.isArray(part)
          ? await Promise.all(part.map(toRestJson))
          : await toRestJson(part as Message);
        converted.push([key, json]);
      }
      event(name, { ...values, ...Object.fromEntries(converted) });
    });
    return last;
  };
  return {
    started: ({ root, baseUrl, dataDir, isolation, secrets }) =>
      event("started", { project_folder: root, base_url: baseUrl, data_folder: dataDir, isolation, secrets }),
    secrets: (names) => event("secrets", { names }),
    deployed: (deployment, schedules, tookMs) =>
      messages("deployed", { took_ms: Math.round(tookMs) }, { deployment, schedules }),
    contents: () => {},
    unchanged: (isFixed) => event("unchanged", { fixed: isFixed }),
    failed: ({ message, details }, keepsActive) =>
      event("not_deployed", { message, details, keeps_active: keepsActive }),
    missedStart: () => {},
    execution: (execution) => messages("execution", {}, { execution }),
    log: (log) => messages("log", {}, { log }),
    refused: ({ name, slug, outcome, httpStatus, reason }) =>
      event("request", { name, slug, outcome, http_status: httpStatus, reason }),
    message: (text) => event("message", { text }),
    warning: (text) => event("warning", { text }),
    stopping: () => event("stopping"),
  };
}
