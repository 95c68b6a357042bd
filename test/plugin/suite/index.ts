import type { Case } from "../context.ts";
import { egressCases } from "./egress.ts";
import { errorCases } from "./errors.ts";
import { fileCases } from "./files.ts";
import { pathCases } from "./paths.ts";
import { redirectCases } from "./redirects.ts";
import { requestCases } from "./requests.ts";
import { responseCases } from "./responses.ts";
import { timeoutCases } from "./timeouts.ts";
import { toolCases } from "./tools.ts";

/** The suite of the plugin. The first case verifies the runtime. */
export const cases: Case[] = [
  ...requestCases,
  ...responseCases,
  ...errorCases,
  ...timeoutCases,
  ...pathCases,
  ...redirectCases,
  ...egressCases,
  ...fileCases,
  ...toolCases,
];
