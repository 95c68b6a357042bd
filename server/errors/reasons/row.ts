/** A row of the table of reasons, which docs/errors.md shows. */
import type { Code } from "@connectrpc/connect";

export interface ReasonRow {
  code: Code;
  /** The HTTP status on REST paths and webhook URLs, if it differs from that of the code. */
  status?: number;
  /** One sentence. */
  meaning: string;
  /** What the client does. One sentence. */
  advice: string;
}
