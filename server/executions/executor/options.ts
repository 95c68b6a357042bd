import type { Limits } from "../../config/limits.ts";
import type { Engine } from "../../store/engine.ts";
import type { RunningExecution } from "../../store/tables/leases.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import type { LogWriter } from "../log-writer.ts";
import type { AttemptSources } from "../run-attempt.ts";
import type { Transition } from "../states.ts";

export interface ExecutorOptions extends AttemptSources {
  engine: Engine;
  /** The name of this process in leases, unique for each start. */
  owner: string;
  limits: Limits;
  logs: LogWriter;
  /** Absent without tracing. */
  tracer?: Tracer | null;
  /** Whether retries start without the delay of their policy. Default: false. */
  retriesAtOnce?: boolean;
  /** Whether failures call `on_failure` of their project. Default: true. */
  reportsFailures?: boolean;
  /** Called after each write of a transition. */
  onEnd?(row: RunningExecution, transition: Transition): void;
  /** Called when an attempt starts. */
  onAttempt?(executionId: string): void;
}
