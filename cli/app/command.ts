import { type ArgsDef, type CommandDef, defineCommand } from "citty";

/** An option or a positional argument, in the form that citty defines. */
export interface ArgumentDefinition {
  readonly type: "boolean" | "string" | "enum" | "positional";
  readonly description: string;
  /** Placeholder for the value of an option in `--help`. */
  readonly valueHint?: string;
  /** One letter, without its dash. */
  readonly alias?: string;
  /** Another name of an option, without its dashes. */
  readonly synonym?: string;
  /** Default: false for an option, true for a positional argument. */
  readonly required?: boolean;
  readonly default?: string;
  /** Whether an option may be given several times. Its value is a list. */
  readonly multiple?: true;
  /** The allowed values of an enum or a positional argument. */
  readonly options?: readonly string[];
  /**
   * Converts the value.
   *
   * @param option - the option as the user knows it, for example `--limit`
   * @throws UsageError when the value is not valid
   */
  readonly parse?: (text: string, option: string) => unknown;
}

/** Arguments by name, in the order of `--help`; positional arguments in their order on the command line. */
export type ArgumentDefinitions = Readonly<Record<string, ArgumentDefinition>>;

/** The value of each argument. citty's own type says `string` for an option that may be absent. */
export type Values<T extends ArgumentDefinitions> = {
  [K in keyof T]: T[K] extends { type: "boolean" }
    ? boolean
    : T[K] extends { multiple: true }
      ? readonly Parsed<T[K]>[]
      : Optional<T[K], Parsed<T[K]>>;
};

type Parsed<Definition> = Definition extends { parse(...args: never): infer Value }
  ? Value
  : Definition extends { options: infer Options extends readonly string[] }
    ? Options[number]
    : string;

type Optional<Definition, Value> = Definition extends
  | { required: true }
  | { default: string }
  | { type: "positional"; required?: true }
  ? Value
  : Value | undefined;

/** A command as the dispatcher sees it, without the types of its arguments. */
export interface Command {
  readonly args: ArgumentDefinitions;
  /** Text below the summary in `--help`; empty when the summary is enough. */
  readonly details: string;
  /** Command lines for `--help`, each with its purpose. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  readonly citty: CommandDef<ArgsDef>;
}

/** Defines a command. Its file is loaded only to run the command or to print its help. */
export function command<const T extends ArgumentDefinitions>(definition: {
  details?: string;
  examples?: Command["examples"];
  args: T;
  run(values: Values<T>): Promise<void>;
}): Command {
  return {
    args: definition.args,
    details: definition.details ?? "",
    examples: definition.examples ?? [],
    citty: defineCommand({
      args: definition.args as ArgsDef,
      run: ({ args }) => definition.run(args as unknown as Values<T>),
    }),
  };
}
