/** The client of the service, `svc/client`, for Node, Bun, Deno, browsers and edge runtimes. */
export { type Client, type ClientOptions, createClient } from "./client.ts";
export { type FieldViolation, isSvcError, SvcError } from "./errors.ts";
// Not by name: a declaration of `Targets` in a project augments the exports of this module.
export type * from "./targets.ts";
export type * from "./types.ts";
