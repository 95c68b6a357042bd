/** The interface of Standard Schema (https://standardschema.dev), version 1, which zod, valibot, arktype and others implement. */

/** A schema of any library. `Input` is the type before validation, `Output` the type after it. */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Exists for type inference only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema accepts. */
export type SchemaInput<S extends Schema> = NonNullable<S["~standard"]["types"]>["input"];

/** The type that a schema returns. */
export type SchemaOutput<S extends Schema> = NonNullable<S["~standard"]["types"]>["output"];
