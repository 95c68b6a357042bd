/** What a person is told when a command fails: one sentence about what, one about what to do. */
export class CliError extends Error {
  override readonly name: string = "CliError";
  /** What to do now: one line. */
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

/** Wrong usage: the command line or the environment is not as it must be. Exits with 2. */
export class UsageError extends CliError {
  override readonly name: string = "UsageError";

  constructor(message: string, advice: string) {
    super(message, advice, { exitCode: 2 });
  }
}

/**
 * Ends a command that has said all there is to say, for example after printing a failed execution.
 * Carries the exit code and no message.
 */
export class Silent extends Error {
  override readonly name: string = "Silent";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}
