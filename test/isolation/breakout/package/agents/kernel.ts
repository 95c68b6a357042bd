/** System calls that no runtime makes by itself, through a foreign function interface. */
import { type Agent, type Attempt, absent, subject, syscall } from "../attempts.ts";

const onX64 = process.arch === "x64";

/** By their numbers on x86-64, since the C library does not export all. */
const calls: Record<string, readonly (number | string)[]> = {
  memfd_create: [319, "x", 0],
  shmget: [29, 0, 4096, 0o600],
  msgget: [68, 0, 0o600],
  semget: [64, 0, 1, 0o600],
  unshare: [272, 0x400],
  process_vm_readv: [310, process.pid, 0, 0, 0, 0, 0],
  process_vm_writev: [311, process.pid, 0, 0, 0, 0, 0],
  keyctl: [250, 0, -5, 1],
  userfaultfd: [323, 1],
  mq_open: [240, "queue", 0o102, 0o600, 0],
  "socket of the hypervisor": [41, 40, 1, 0],
  "socket of raw packets": [41, 17, 3, 0],
  kcmp: [312, process.pid, process.pid, 0, 0, 0],
  fsopen: [430, "tmpfs", 0],
  open_tree: [428, -100, "/", 0],
};

export const attempts: Record<string, Attempt> = {
  io_uring_setup: () => {
    absent(!onX64);
    syscall("syscall", 425, 1, "\0".repeat(120));
    return "TOP SECRET";
  },
};
for (const [name, [number = 0, ...values]] of Object.entries(calls)) {
  attempts[name] = () => {
    absent(!onX64);
    const result = syscall("syscall", number, ...values);
    if (name === "shmget") syscall("shmctl", result, 0, 0);
    if (name === "msgget") syscall("msgctl", result, 0, 0);
    if (name === "semget") syscall("semctl", result, 0, 0);
    if (name === "mq_open") syscall("syscall", 241, "queue");
    return "TOP SECRET";
  };
}

const agent: Agent = subject(attempts);
export default agent;
