import fs from "node:fs";
import os from "node:os";
import { type Agent, type Attempt, bun, deno, read, subject } from "../attempts.ts";

export const attempts: Record<string, Attempt> = {
  "process.env": () => ({ ...process.env }),
  "Bun.env": () => bun("env"),
  "Deno.env": () => deno<{ toObject(): object }>("env").toObject(),
  "a diagnostic report": () => {
    const { report } = process;
    if (report === undefined) throw new Error("no reports");
    return JSON.stringify(
      (report.getReport() as { environmentVariables?: object }).environmentVariables ?? {},
    );
  },
  "the environment at the start": () => read("/proc/self/environ"),
  "the arguments of the runner": () => [...process.argv, ...process.execArgv].join(" "),
  "the home folder": () => fs.readdirSync(os.homedir()).join(" "),
};

const agent: Agent = subject(attempts);
export default agent;
