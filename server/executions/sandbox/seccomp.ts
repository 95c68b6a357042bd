/**
 * A seccomp filter for runners inside bubblewrap: classic BPF, as seccomp(2) describes it. It allows every system call
 * except those that JavaScript has no use for and that start processes or widen the kernel's attack surface. A refused
 * call fails with EPERM. Calls that programs probe for fail with ENOSYS, so that they fall back to an older one.
 */

/** Name, number on x86-64 (asm/unistd_64.h), number on arm64 (asm-generic/unistd.h); null where it does not exist. */
type SystemCall = readonly [name: string, x64: number, arm64: number | null];

const refused: readonly SystemCall[] = [
  // Objects of System V and POSIX queues hold memory that no limit of the server sees.
  ["shmget", 29, 194],
  ["semget", 64, 190],
  ["msgget", 68, 186],
  ["mq_open", 240, 180],
  ["fork", 57, null],
  ["vfork", 58, null],
  ["ptrace", 101, 117],
  ["syslog", 103, 116],
  ["vhangup", 153, 58],
  ["modify_ldt", 154, null],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["acct", 163, 89],
  ["settimeofday", 164, 170],
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["reboot", 169, 142],
  ["sethostname", 170, 161],
  ["setdomainname", 171, 162],
  ["iopl", 172, null],
  ["ioperm", 173, null],
  ["init_module", 175, 105],
  ["delete_module", 176, 106],
  ["quotactl", 179, 60],
  ["kexec_load", 246, 104],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  ["unshare", 272, 97],
  ["perf_event_open", 298, 241],
  ["fanotify_init", 300, 262],
  ["name_to_handle_at", 303, 264],
  ["open_by_handle_at", 304, 265],
  ["clock_adjtime", 305, 266],
  ["setns", 308, 268],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["kcmp", 312, 272],
  ["finit_module", 313, 273],
  ["kexec_file_load", 320, 294],
  ["bpf", 321, 280],
  ["userfaultfd", 323, 282],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["pidfd_getfd", 438, 438],
  ["process_madvise", 440, 440],
  ["mount_setattr", 442, 442],
  ["quotactl_fd", 443, 443],
];

/** `memfd_create` and `memfd_secret` hold memory that no limit of the server sees; `clone3` hides its flags in memory. */
const absent: readonly SystemCall[] = [
  ["memfd_create", 319, 279],
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  ["clone3", 435, 435],
  ["memfd_secret", 447, 447],
];

const clone = { x64: 56, arm64: 220 };
const CLONE_THREAD = 0x10000;

/**
 * The families of sockets that a runner may create: Unix, IPv4, IPv6, and netlink, which lists network interfaces. A network
 * namespace does not contain the rest: vsock, for example, reaches the hypervisor.
 */
const socketFamilies: readonly number[] = [1, 2, 10, 16];
const socketCalls: readonly SystemCall[] = [
  ["socket", 41, 198],
  ["socketpair", 53, 199],
];

/** AUDIT_ARCH_* of linux/audit.h. */
const auditArch = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Set in the numbers of the x32 ABI, which would bypass the list. */
const x32Bit = 0x40000000;

// Operation codes of linux/bpf_common.h and return values of linux/seccomp.h.
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_SET = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

// Offsets in struct seccomp_data.
const numberOffset = 0;
const archOffset = 4;
const firstArgumentOffset = 16;

/** The filter for this machine's processor, or null where the lists have no numbers for it. */
export function seccompFilter(arch: string = process.arch): Uint8Array | null {
  if (arch !== "x64" && arch !== "arm64") return null;
  const numberOf = ([, x64, arm64]: SystemCall): number | null => (arch === "x64" ? x64 : arm64);
  const program: Instruction[] = [
    [LOAD_WORD, 0, 0, archOffset],
    [JUMP_IF_EQUAL, 1, 0, auditArch[arch]],
    [RETURN, 0, 0, ERRNO | EPERM],
    [LOAD_WORD, 0, 0, numberOffset],
    [JUMP_IF_AT_LEAST, 0, 1, x32Bit],
    [RETURN, 0, 0, ERRNO | EPERM],
  ];
  const answer = (calls: readonly SystemCall[], errno: number): void => {
    for (const number of calls.map(numberOf)) {
      if (number === null) continue;
      program.push([JUMP_IF_EQUAL, 0, 1, number], [RETURN, 0, 0, ERRNO | errno]);
    }
  };
  answer(refused, EPERM);
  answer(absent, ENOSYS);
  for (const number of socketCalls.map(numberOf)) {
    if (number === null) continue;
    program.push(
      [JUMP_IF_EQUAL, 0, socketFamilies.length + 3, number],
      [LOAD_WORD, 0, 0, firstArgumentOffset],
    );
    for (const [index, family] of socketFamilies.entries())
      program.push([JUMP_IF_EQUAL, socketFamilies.length - index, 0, family]);
    program.push([RETURN, 0, 0, ERRNO | EAFNOSUPPORT], [RETURN, 0, 0, ALLOW]);
  }
  // Threads are `clone` with CLONE_THREAD; anything else is a new process.
  program.push(
    [JUMP_IF_EQUAL, 0, 3, clone[arch]],
    [LOAD_WORD, 0, 0, firstArgumentOffset],
    [JUMP_IF_SET, 1, 0, CLONE_THREAD],
    [RETURN, 0, 0, ERRNO | EPERM],
    [RETURN, 0, 0, ALLOW],
  );
  return encode(program);
}

/** Operation, jump when true, jump when false, operand: struct sock_filter of linux/filter.h. */
type Instruction = readonly [number, number, number, number];

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, [operation, whenTrue, whenFalse, operand]] of program.entries()) {
    view.setUint16(index * 8, operation, true);
    view.setUint8(index * 8 + 2, whenTrue);
    view.setUint8(index * 8 + 3, whenFalse);
    view.setUint32(index * 8 + 4, operand >>> 0, true);
  }
  return bytes;
}
