/**
 * The types of the project's agents, workflows, secrets and variables. `svc types` writes a declaration that fills
 * `Targets`, `Secrets` and `Variables`. Without it every name is accepted.
 */
import type { JsonObject, JsonValue } from "../json.ts";
import type { Schema, SchemaInput, SchemaOutput } from "./standard-schema.ts";

/** The agents and workflows by name. Empty unless the project declares them. */
// biome-ignore lint/suspicious/noEmptyInterface: projects add the members
export interface Targets {}

/** The secrets by name. Empty unless the project declares them. */
// biome-ignore lint/suspicious/noEmptyInterface: projects add the members
export interface Secrets {}

/** The variables by name. Empty unless the project declares them. */
// biome-ignore lint/suspicious/noEmptyInterface: projects add the members
export interface Variables {}

export type TargetName = keyof Targets extends never ? string : Extract<keyof Targets, string>;

/**
 * The declared secrets. Others are errors: most are typing errors, and `.env.example` declares the rest. Code that computes
 * a name assigns `ctx.secrets` to a `Record<string, string | undefined>`.
 *
 * Whether the declaration exists shows in the targets, because a project may have no secrets and no variables.
 */
export type SecretValues = keyof Targets extends never ? Readonly<Record<string, string>> : Readonly<Secrets>;

/** The declared variables, which are all that exist. */
export type VariableValues = keyof Targets extends never
  ? Readonly<Record<string, string | number | boolean>>
  : Readonly<Variables>;

/** The declaration of one target. For several names, such as all those that an unknown name could mean, the general one. */
type Declared<Name extends string> =
  IsUnion<Name> extends true ? unknown : Name extends keyof Targets ? Targets[Name] : unknown;

type IsUnion<Type, All = Type> = Type extends unknown ? ([All] extends [Type] ? false : true) : never;

export type InputOf<Name extends string> =
  Declared<Name> extends { input: infer Input extends object } ? Input : object;

export type OutputOf<Name extends string> =
  Declared<Name> extends { output: infer Output } ? Output : JsonValue;

/** The arguments after the name: the input may be left out when `{}` is one. */
export type InputAndOptions<Name extends string, Options> =
  Record<never, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: Options]
    : [input: InputOf<Name>, options?: Options];

/** The input that callers pass to the default export of a module, and the output that they receive. */
export type TargetTypes<Module> = Module extends { default: infer Target }
  ? { input: InputFor<Target>; output: Json<Awaited<ResultOf<Target>>> }
  : { input: object; output: unknown };

type InputFor<Target> = Target extends { readonly input?: infer Input; readonly run: unknown }
  ? [Input] extends [Schema]
    ? SchemaInput<Input>
    : ParameterOf<Target["run"]>
  : ParameterOf<Target>;

type ResultOf<Target> = Target extends { readonly output?: infer Output; readonly run: infer Run }
  ? [Output] extends [Schema]
    ? SchemaOutput<Output>
    : ReturnOf<Run>
  : ReturnOf<Target>;

/** A function without a type of its input accepts every object. */
type ParameterOf<Run> = Run extends (input: infer Input, ...rest: never) => unknown
  ? JsonObject extends Input
    ? object
    : Input
  : object;

type ReturnOf<Run> = Run extends (...parameters: never) => infer Result ? Result : unknown;

/** A value after it was written as JSON and read again. */
export type Json<Value> = unknown extends Value
  ? unknown
  : // biome-ignore lint/suspicious/noConfusingVoidType: the result of a function without `return`
    Value extends undefined | void
    ? null
    : Value extends { toJSON(): infer Written }
      ? Json<Written>
      : Value extends object
        ? { [Key in keyof Value]: JsonMember<Value[Key]> }
        : Value;

/** A member that is `undefined` is left out. */
type JsonMember<Value> = undefined extends Value ? Json<Exclude<Value, undefined>> | undefined : Json<Value>;
