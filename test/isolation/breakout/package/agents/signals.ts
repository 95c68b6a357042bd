import os from "node:os";
import { type Agent, type Attempt, deno, member, subject, syscall } from "../attempts.ts";

type Kill = (pid: number, signal: number | string) => unknown;

export const attempts: Record<string, Attempt> = {
  "process.kill": ({ pid }) => process.kill(pid, "SIGKILL"),
  "process.kill of another realm": ({ pid }) => {
    const kill = Reflect.get(process, "kill") as Kill;
    return Reflect.apply(kill, process, [pid, "SIGKILL"]);
  },
  "process._kill": ({ pid }) => member<Kill>(process, "_kill").call(process, pid, 9),
  "process._debugProcess": ({ pid }) => member<(pid: number) => void>(process, "_debugProcess")(pid),
  "os.setPriority": ({ pid }) => {
    os.setPriority(pid, 19);
    return "TOP SECRET";
  },
  "Deno.kill": ({ pid }) => deno<Kill>("kill")(pid, "SIGKILL"),
  "kill() of a foreign function": ({ pid }) => syscall("kill", pid, 9),
  "tgkill() of a foreign function": ({ pid }) =>
    syscall("syscall", process.arch === "x64" ? 234 : 131, pid, pid, 9),
  "prlimit() of a foreign function": ({ pid }) => {
    syscall("syscall", process.arch === "x64" ? 302 : 261, pid, 7, 0, 0);
    return "TOP SECRET";
  },
};

const agent: Agent = subject(attempts);
export default agent;
