/** The limits of the spans of users' code. The runner keeps them, and the server checks them. */
export const maxSpans = 1_000;
export const maxAttributes = 64;
export const maxEvents = 32;
export const maxElements = 32;
/** UTF-16 units. */
export const maxKeyLength = 128;
export const maxTextLength = 1_024;

export type SpanValue = string | number | boolean | (string | number | boolean | null)[];

/** A span in a message to the server. Times are Unix milliseconds with a fraction. */
export interface SpanMessage {
  /** 16 hexadecimal digits. */
  spanId: string;
  parentId: string;
  name: string;
  /** The numbers of the OpenTelemetry API: 0 internal, 1 server, 2 client, 3 producer, 4 consumer. */
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, SpanValue>;
  events: { name: string; atMs: number; attributes: Record<string, SpanValue> }[];
  /** 0 unset, 1 ok, 2 error. */
  status: { code: number; message: string };
  /** The name of the tracer. */
  scope: string;
}
