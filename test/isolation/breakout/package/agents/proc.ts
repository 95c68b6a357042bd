import fs from "node:fs";
import { type Agent, type Attempt, read, subject } from "../attempts.ts";

export const attempts: Record<string, Attempt> = {
  "the environment of the server": ({ serverPid }) => read(`/proc/${serverPid}/environ`),
  "the command line of the server": ({ serverPid }) => `${read(`/proc/${serverPid}/cmdline`)} TOP SECRET`,
  "the file system of the server": ({ serverPid, outside }) =>
    read(`/proc/${serverPid}/root${outside}/secret`),
  "the working folder of the server": ({ serverPid }) =>
    `${fs.readdirSync(`/proc/${serverPid}/cwd/`)} TOP SECRET`,
  "the descriptors of the server": ({ serverPid }) => `${fs.readdirSync(`/proc/${serverPid}/fd`)} TOP SECRET`,
  "the memory of the server": ({ serverPid }) => {
    fs.closeSync(fs.openSync(`/proc/${serverPid}/mem`, "r"));
    return "TOP SECRET";
  },
  "the file system of process 1": ({ outside }) => read(`/proc/1/root${outside}/secret`),
  "the file system of the own process": ({ outside }) => read(`/proc/self/root${outside}/secret`),
  "the working folder of process 1": ({ outside }) => read(`/proc/1/cwd/../../../../../..${outside}/secret`),
  "a thread's file system": ({ outside }) => read(`/proc/thread-self/root${outside}/secret`),
  "the priority for the end of the server": ({ serverPid }) =>
    fs.writeFileSync(`/proc/${serverPid}/oom_score_adj`, "999") ?? "TOP SECRET",
  "settings of the kernel": () => {
    // It opens the file only.
    fs.closeSync(fs.openSync("/proc/sys/kernel/core_pattern", "r+"));
    return "TOP SECRET";
  },
  "the control groups": () => `${fs.readdirSync("/sys/fs/cgroup")} TOP SECRET`,
};

const agent: Agent = subject(attempts);
export default agent;
