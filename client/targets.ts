/**
 * The types of the project's agents and workflows.
 *
 * A project declares its targets by augmenting `Targets`:
 *
 *     declare module "svc/client" {
 *       interface Targets {
 *         triage: { input: { title: string }; output: { priority: string } };
 *       }
 *     }
 *
 * Without a declaration every name is accepted, inputs are objects and outputs are `unknown`.
 */

/** The agents and workflows by name. Empty unless the project declares them. */
// biome-ignore lint/suspicious/noEmptyInterface: projects add the members
export interface Targets {}

export type TargetName = keyof Targets extends never ? string : Extract<keyof Targets, string>;

/** The declaration of one target. For several names, such as all those that an unknown name could mean, the general one. */
type Declared<Name extends string> =
  IsUnion<Name> extends true ? unknown : Name extends keyof Targets ? Targets[Name] : unknown;

type IsUnion<Type, All = Type> = Type extends unknown ? ([All] extends [Type] ? false : true) : never;

export type InputOf<Name extends string> =
  Declared<Name> extends { input: infer Input extends object } ? Input : object;

export type OutputOf<Name extends string> =
  Declared<Name> extends { output: infer Output } ? Output : unknown;

/** The arguments after the name: the input may be left out when `{}` is one. */
export type InputAndOptions<Name extends string, Options> =
  Record<never, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: Options]
    : [input: InputOf<Name>, options?: Options];
