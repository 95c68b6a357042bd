/**
 * A case of `npm run bench`.
 *
 * Glossary: a *program* is one of the things that a case compares; the first one of a row is svc or a part of it. A
 * *round* measures each program once. A *row* has the figures of all programs for one measurement.
 */

export interface Options {
  /** Measurements of each program. */
  rounds: number;
  /** Seconds of one measurement under load. */
  seconds: number;
}

export interface Case {
  /** The rows, after an assertion that all programs give the same results. */
  run(options: Options): Promise<Row[]>;
}

export interface Row {
  /** For example `150 bytes, SQLite`. */
  what: string;
  /** Unit of the values: `webhooks/s`, `ms`, `MB`. */
  unit: string;
  /** Medians over the rounds. */
  programs: Program[];
  /** The value on the horizontal axis of a plot. */
  at?: number;
  /** What the measurement should reach. */
  goals?: Goal[];
  /** Conditions and scale, where the title of the case does not say them. */
  note?: string;
}

export interface Goal {
  /** Name of the program that has the value. */
  program: string;
  /** `ratio` is that of the first program to this one. */
  of: "ratio" | "median" | "p99Ms";
  atLeast?: number;
  atMost?: number;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface Program extends Spread {
  name: string;
  /** Latency in milliseconds, when the measurement has one: medians over the rounds. */
  p50Ms?: number;
  p99Ms?: number;
  /** The first program's value as a ratio of this one's, over the rounds. Missing for the first program. */
  ratio?: Spread;
  samples: number;
}

/** The result of a run of one case. */
export interface CaseResult {
  name: string;
  summary: string;
  seconds: number;
  rows: Row[];
  /** Why the case has no rows. */
  skipped?: string;
  failed?: string;
}

/** Thrown by a case that cannot run on this machine, with the reason. */
export class Skip extends Error {}

/** The goals of a row that were missed. A goal whose value was not measured is missed. */
export function missedGoals({ goals = [], programs }: Row): Goal[] {
  return goals.filter((goal) => {
    const program = programs.find(({ name }) => name === goal.program);
    const value = (goal.of === "ratio" ? program?.ratio?.median : program?.[goal.of]) ?? Number.NaN;
    const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = goal;
    return !(value >= atLeast && value <= atMost);
  });
}
