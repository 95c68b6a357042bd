/** Suggestions for commands and options that users know from other tools. */

/** The command lines for names that users know from other tools, by the path of the group and the name. */
const foreignCommands: Readonly<Record<string, string>> = {
  "svc deploy": "svc push",
  "svc up": "svc push",
  "svc publish": "svc push",
  "svc rollback": "svc deployments rollback",
  "svc promote": "svc deployments promote",
  "svc trigger": "svc run",
  "svc invoke": "svc run",
  "svc exec": "svc run",
  "svc replay": "svc executions replay",
  "svc cancel": "svc executions cancel",
  "svc tail": "svc logs --follow",
  "svc log": "svc logs",
  "svc ls": "svc executions",
  "svc list": "svc executions",
  "svc ps": "svc executions",
  "svc new": "svc create",
  "svc start": "svc dev",
  "svc server": "svc serve",
  "svc auth": "svc login",
  "svc version": "svc --version",
  "svc env": "svc secrets",
  "svc cron": "svc schedules",
  "svc -v": "svc --version",
  "svc -V": "svc --version",
};

/** The names of other tools for the commands of any group. */
const foreignNames: Readonly<Record<string, readonly string[]>> = {
  ls: ["list"],
  add: ["set", "create"],
  create: ["add", "set"],
  new: ["create", "add", "set"],
  put: ["set"],
  get: ["show"],
  view: ["show"],
  inspect: ["show"],
  describe: ["show"],
  rm: ["remove", "delete", "revoke"],
  delete: ["remove", "revoke"],
  remove: ["delete", "revoke"],
  unset: ["remove"],
  stop: ["cancel", "pause"],
  kill: ["cancel"],
  compare: ["diff"],
  retry: ["replay", "redeliver"],
  rerun: ["replay"],
  replay: ["redeliver"],
  disable: ["pause"],
  enable: ["resume"],
  unpause: ["resume"],
};

/** The options of other tools and the ones that a command may have instead. */
const foreignOptions: Readonly<Record<string, readonly string[]>> = {
  "--input": ["--data"],
  "--body": ["--data"],
  "--payload": ["--data"],
  "-i": ["--data"],
  "--env": ["--environment"],
  "--stage": ["--environment"],
  "--tail": ["--follow", "--lines"],
  "--watch": ["--follow"],
  "-f": ["--force"],
  "--async": ["--detach"],
  "--output": ["--json"],
  "-o": ["--json"],
  "-V": ["--version"],
};

/** The command line for a name of another tool; undefined when none is known. */
export function foreignCommand(path: string, typed: string, known: readonly string[]): string | undefined {
  const line = Object.hasOwn(foreignCommands, `${path} ${typed}`)
    ? foreignCommands[`${path} ${typed}`]
    : undefined;
  if (line !== undefined) return line;
  const names = Object.hasOwn(foreignNames, typed) ? foreignNames[typed] : undefined;
  const name = names?.find((each) => known.includes(each));
  return name === undefined ? undefined : `${path} ${name}`;
}

/** The known option for an option of another tool; undefined when there is none. */
export function foreignOption(typed: string, known: readonly string[]): string | undefined {
  const names = Object.hasOwn(foreignOptions, typed) ? foreignOptions[typed] : undefined;
  return names?.find((each) => known.includes(each));
}
