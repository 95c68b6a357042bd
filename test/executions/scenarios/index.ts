import type { Scenario } from "../scenario.ts";
import { forgeryScenarios } from "./forgeries.ts";
import { isolation } from "./isolation.ts";
import { logs } from "./logs.ts";
import { modules } from "./modules.ts";
import { outcomes } from "./outcomes.ts";
import { responseScenarios } from "./responses.ts";
import { runs } from "./runs.ts";
import { schemaScenarios } from "./schemas.ts";
import { time } from "./time.ts";

/** The first one tells which runtime answers. */
export const scenarios: readonly Scenario[] = [
  ...outcomes,
  ...time,
  ...logs,
  ...runs,
  ...responseScenarios,
  ...schemaScenarios,
  ...modules,
  ...isolation,
  ...forgeryScenarios,
];
