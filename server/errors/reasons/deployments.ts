/** Reasons of errors: deployments and executions. */
import { Code } from "@connectrpc/connect";
import type { ReasonRow } from "./row.ts";

export type DeploymentReason =
  | "PACKAGE_INVALID"
  | "PACKAGE_TOO_LARGE"
  | "PACKAGE_NOT_STORED"
  | "UPLOAD_CLOSED"
  | "UPLOAD_MISMATCH"
  | "PROJECT_INVALID"
  | "MODULES_INVALID"
  | "MODULES_NOT_CHECKED"
  | "NETWORK_NOT_ENFORCEABLE"
  | "NAME_TAKEN"
  | "DEPLOYMENT_CHANGED"
  | "DEPLOYMENT_ACTIVE"
  | "DEPLOYMENT_NOT_SUPERSEDED"
  | "DEPLOYMENT_DELETED"
  | "TARGET_NOT_DEPLOYED"
  | "PAYLOAD_NOT_KEPT"
  | "EXECUTION_FAILED"
  | "FAILED_PRECONDITION"
  | "ALREADY_EXISTS"
  | "ABORTED"
  | "PERMISSION_DENIED"
  | "UNAUTHENTICATED";

export const deployments: Readonly<Record<DeploymentReason, ReasonRow>> = {
  PACKAGE_INVALID: {
    code: Code.InvalidArgument,
    meaning: "The package is not a valid archive.",
    advice: "Package the project with `svc push`.",
  },
  PACKAGE_TOO_LARGE: {
    code: Code.InvalidArgument,
    status: 413,
    meaning: "The package exceeds `SVC_MAX_PACKAGE_BYTES`.",
    advice: "Leave files out with `.gitignore`, or raise the limit.",
  },
  PACKAGE_NOT_STORED: {
    code: Code.FailedPrecondition,
    meaning: "No package with this digest is stored.",
    advice: "Upload it first.",
  },
  UPLOAD_CLOSED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The upload is complete or does not exist.",
    advice: "Create a new upload.",
  },
  UPLOAD_MISMATCH: {
    code: Code.InvalidArgument,
    meaning: "Size or digest of the upload differ from the announced ones.",
    advice: "Upload the package again.",
  },
  PROJECT_INVALID: {
    code: Code.InvalidArgument,
    meaning:
      "The project file of the package is invalid. The message lists the problems; `BadRequest` has each with its position as field.",
    advice: "Fix them and push again.",
  },
  MODULES_INVALID: {
    code: Code.InvalidArgument,
    meaning:
      "Modules of the package cannot be loaded. The message lists the errors; `BadRequest` has each with its file and line as field.",
    advice: "Fix them and push again.",
  },
  MODULES_NOT_CHECKED: {
    code: Code.Unavailable,
    meaning: "The modules of the package were not checked: no worker answered, or the check was interrupted.",
    advice: "Start a worker if none is running, and push again.",
  },
  NETWORK_NOT_ENFORCEABLE: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The project restricts its network, and this service cannot enforce that.",
    advice: "Run the service with `SVC_RUNNER=deno` or bubblewrap.",
  },
  NAME_TAKEN: {
    code: Code.AlreadyExists,
    meaning: "Another project has deployed an agent or workflow with the same name to the environment.",
    advice: "Rename one of them.",
  },
  DEPLOYMENT_CHANGED: {
    code: Code.Aborted,
    meaning: "The deployment changed during the call.",
    advice: "Retry the call.",
  },
  DEPLOYMENT_ACTIVE: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment is active.",
    advice: "Pass `force`, or activate another deployment first.",
  },
  DEPLOYMENT_NOT_SUPERSEDED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "Only a superseded deployment can be activated again.",
    advice: "Choose another deployment.",
  },
  DEPLOYMENT_DELETED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment was deleted.",
    advice: "Use the active deployment.",
  },
  TARGET_NOT_DEPLOYED: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The deployment to run does not have the agent or workflow.",
    advice: "Name a deployment that has it.",
  },
  PAYLOAD_NOT_KEPT: {
    code: Code.FailedPrecondition,
    status: 409,
    meaning: "The payload of the delivery was not kept.",
    advice: "Have the sender deliver it again.",
  },
  EXECUTION_FAILED: {
    code: Code.Internal,
    meaning: "The caller waited for an execution, and it failed or was cancelled.",
    advice: "Read the execution with the id `execution_id`.",
  },
  FAILED_PRECONDITION: {
    code: Code.FailedPrecondition,
    meaning: "The state of a resource does not allow the request.",
    advice: "Change the state that the message names.",
  },
  ALREADY_EXISTS: {
    code: Code.AlreadyExists,
    meaning: "The resource exists already.",
    advice: "Choose another name.",
  },
  ABORTED: {
    code: Code.Aborted,
    meaning: "A concurrent change interfered.",
    advice: "Retry the call.",
  },
  PERMISSION_DENIED: {
    code: Code.PermissionDenied,
    meaning: "The caller may not do this.",
    advice: "Change what the message names.",
  },
  UNAUTHENTICATED: {
    code: Code.Unauthenticated,
    meaning: "The caller is not authenticated.",
    advice: "Check the credentials.",
  },
};
