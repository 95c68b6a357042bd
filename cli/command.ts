import { type ArgsDef, type CommandDef, defineCommand } from "citty";

/** A command as the dispatcher sees it: which options it takes is known, their types are forgotten. */
export interface Command {
  /** Options and positional arguments, in the order in which the help shows them. */
  readonly options: ArgsDef;
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
export type Values<T extends ArgsDef> = {
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
export function command<const T extends ArgsDef>(definition: {
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
