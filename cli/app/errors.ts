/** The failure of a command as the user reads it: one sentence on the failure and one on what to do. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** What to do: one line. */
  readonly advice: string;
  /** 1 for a failure, 2 for wrong usage. */
  readonly exitCode: 1 | 2;
  /** Lines between the message and the advice, for example the problems of a project file. */
  readonly details: readonly string[];

  constructor(
    message: string,
    advice: string,
    options: ErrorOptions & { exitCode?: 1 | 2; details?: readonly string[] } = {},
  ) {
    super(message, options);
    this.advice = advice;
    this.exitCode = options.exitCode ?? 1;
    this.details = options.details ?? [];
  }
}

/** Invalid command line or environment variable. Exits with 2. */
export class UsageError extends CliError {
  override readonly name: string = "UsageError";

  constructor(message: string, advice: string) {
    super(message, advice, { exitCode: 2 });
  }
}

/** Ends a command with an exit code and without a message, for example after it printed a failed execution. */
export class Exit extends Error {
  override readonly name: string = "Exit";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
