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

export type InputOf<Name extends string> = Name extends keyof Targets
  ? Targets[Name] extends { input: infer Input }
    ? Input
    : object
  : object;

export type OutputOf<Name extends string> = Name extends keyof Targets
  ? Targets[Name] extends { output: infer Output }
    ? Output
    : unknown
  : unknown;

/** The arguments after the name: the input may be left out when `{}` is one. */
export type InputAndOptions<Name extends string, Options> =
  Record<never, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: Options]
    : [input: InputOf<Name>, options?: Options];
