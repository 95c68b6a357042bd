/** The standard details of errors: messages of google/rpc/error_details.proto. */
import type { ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  QuotaFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "../../proto/google/rpc/error_details_pb.ts";
import type { Reason } from "./reasons.ts";

export type Detail = ConnectError["details"][number];

/** The domain of the reasons. */
const domain = "svc";

export function errorInfo(reason: Reason, metadata: Record<string, string> = {}): Detail {
  return { desc: ErrorInfoSchema, value: { reason, domain, metadata } };
}

/** A field by its path in names of the contract, for example `input.items[0].id`. */
export interface FieldViolation {
  field: string;
  /** One sentence: the rule and the value. */
  description: string;
  /** The rule, in upper case, for example `STRING_PATTERN`. */
  reason: string;
}

export function badRequest(fieldViolations: readonly FieldViolation[]): Detail {
  return { desc: BadRequestSchema, value: { fieldViolations: [...fieldViolations] } };
}

export function retryInfo(seconds: number): Detail {
  return { desc: RetryInfoSchema, value: { retryDelay: { seconds: BigInt(seconds), nanos: 0 } } };
}

export function quotaFailure(violations: readonly { subject: string; description: string }[]): Detail {
  return { desc: QuotaFailureSchema, value: { violations: [...violations] } };
}

export function preconditionFailure(type: string, subject: string, description: string): Detail {
  return { desc: PreconditionFailureSchema, value: { violations: [{ type, subject, description }] } };
}

/** @param resourceType - the noun of the contract, for example `execution` */
export function resourceInfo(resourceType: string, resourceName: string): Detail {
  return { desc: ResourceInfoSchema, value: { resourceType, resourceName: resourceName.slice(0, 100) } };
}

const infoType = ErrorInfoSchema.typeName;

/** The reason that the error says; empty for none. */
export function reasonIn(error: ConnectError): string {
  for (const detail of error.details) {
    if ("desc" in detail && detail.desc.typeName === infoType)
      return (detail.value as { reason: string }).reason;
  }
  return "";
}

/** Whether the error says its reason. */
export function hasReason(error: ConnectError): boolean {
  return error.details.some((detail) => ("desc" in detail ? detail.desc.typeName : detail.type) === infoType);
}
