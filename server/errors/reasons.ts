/**
 * The reasons of errors. Clients branch on the reason, so a released one is never renamed. docs/errors.md is generated from
 * this table.
 */
import { Code } from "@connectrpc/connect";
import { type AccessReason, access } from "./reasons/access.ts";
import { type DeploymentReason, deployments } from "./reasons/deployments.ts";
import { type LimitReason, limits } from "./reasons/limits.ts";
import { type RequestReason, requests } from "./reasons/requests.ts";
import { type ResourceReason, resources } from "./reasons/resources.ts";
import type { ReasonRow } from "./reasons/row.ts";
import { type ServiceReason, service } from "./reasons/service.ts";

/** A stable reason. */
export type Reason =
  | AccessReason
  | RequestReason
  | LimitReason
  | ResourceReason
  | DeploymentReason
  | ServiceReason;

export const reasons: Readonly<Record<Reason, ReasonRow>> = {
  ...access,
  ...requests,
  ...limits,
  ...resources,
  ...deployments,
  ...service,
};

const generic: Record<Code, Reason> = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "INTERNAL",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "INVALID_ARGUMENT",
  [Code.Unimplemented]: "UNSUPPORTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "INTERNAL",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
};

/** The reason of an error that has only a code. */
export function genericReason(code: Code): Reason {
  return generic[code];
}
