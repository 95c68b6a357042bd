import { type ArgsDef, type CommandDef, defineCommand } from "citty";

/** An option or a positional argument, as citty takes it. */
export interface Definition {
  readonly type: "boolean" | "string" | "enum" | "positional";
  readonly description: string;
  /** What the help calls the value of an option. */
  readonly valueHint?: string;
  /** One letter, without its dash. */
  readonly alias?: string;
  /** Of an option: false when not given. Of a positional argument: true when not given. */
  readonly required?: boolean;
  readonly default?: string;
  /** Of an enum: what it may be. */
  readonly options?: readonly string[];
}

/** By name, in the order in which the help shows them; positional arguments in their order on the command line. */
export type Definitions = Readonly<Record<string, Definition>>;

/** A command as the dispatcher sees it: which options it takes is known, their types are forgotten. */
export interface Command {
  readonly options: Definitions;
  /** What the help says below the summary; empty when the summary is enough. */
  readonly about: string;
  /** Command lines that the help shows, each with what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  readonly citty: CommandDef<ArgsDef>;
}

/**
 * The values of a command's options. citty's own type says `string` for an option that may be absent, because its
 * index signature swallows `undefined`.
 */
export type Values<T extends Definitions> = {
  [K in keyof T]: T[K] extends { type: "boolean" }
    ? boolean
    : T[K] extends { type: "enum"; options: infer O extends readonly string[] }
      ? Optional<T[K], O[number]>
      : Optional<T[K], string>;
};

type Optional<Def, Value> = Def extends { required: true } | { default: string }
  ? Value
  : Def extends { type: "positional"; required: false }
    ? Value | undefined
    : Def extends { type: "positional" }
      ? Value
      : Value | undefined;

/** Defines one command. Its file is loaded only when the command is run or its help is asked for. */
export function command<const T extends Definitions>(definition: {
  about?: string;
  examples?: Command["examples"];
  args: T;
  run(values: Values<T>): Promise<void>;
}): Command {
  const citty = defineCommand({
    args: definition.args as ArgsDef,
    run: ({ args }) => definition.run(args as unknown as Values<T>),
  });
  return {
    options: definition.args,
    about: definition.about ?? "",
    examples: definition.examples ?? [],
    citty,
  };
}
