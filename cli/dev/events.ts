/** What `svc dev` reports. `text.ts` and `json.ts` print it. */
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Execution, LogLine } from "../../proto/svc/v1/execution_pb.ts";
import type { Schedule } from "../../proto/svc/v1/schedule_pb.ts";
import type { CliError } from "../app/errors.ts";

export interface DevStart {
  /** The folder of the project. */
  root: string;
  baseUrl: string;
  /** Relative to the project, or absolute when it is temporary. */
  dataDir: string;
  /** The data folder is removed at the end. */
  isTemporary: boolean;
  /** The boundary around runners, in words. */
  isolation: string;
  /** Names of secrets. */
  secrets: readonly string[];
  /** Why commands in other terminals need `SVC_PROFILE=dev` to find the server; empty when they do not. */
  otherConnection: string;
}

/** A webhook request that started no execution. */
export interface RefusedRequest {
  name: string;
  slug: string;
  outcome: "rejected" | "ignored" | "handshake";
  httpStatus: number;
  reason: string;
}

export interface DevReporter {
  started(start: DevStart): void;
  /** The secrets have changed. */
  secrets(names: readonly string[]): void;
  /** @param missingSecrets - names of webhook secrets that are not in `.env` */
  deployed(
    deployment: Deployment,
    schedules: readonly Schedule[],
    tookMs: number,
    missingSecrets: readonly string[],
  ): void | Promise<void>;
  /** Prints the webhooks and schedules of the last deployment again. */
  contents(): void;
  /** The package is that of the active deployment. @param isFixed - the problem of the last change is gone */
  unchanged(isFixed: boolean): void;
  /** The project has a problem. @param keepsActive - an earlier deployment stays active */
  failed(error: CliError, keepsActive: boolean): void;
  /** The execution has ended before its start could be reported. Its log and its end follow. */
  missedStart(execution: Execution): void;
  execution(execution: Execution): void | Promise<void>;
  log(log: LogLine): void | Promise<void>;
  refused(request: RefusedRequest): void;
  /** A message of `svc dev` itself. */
  message(text: string): void;
  warning(text: string): void;
  stopping(): void;
}
