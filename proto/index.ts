/** `svc/proto`: the services and messages of the contract, and the details of errors. */
export * from "./google/rpc/error_details_pb.ts";
export * from "./svc/v1/deployment_pb.ts";
export * from "./svc/v1/execution_pb.ts";
export * from "./svc/v1/health_pb.ts";
export * from "./svc/v1/options_pb.ts";
export * from "./svc/v1/organization_pb.ts";
export * from "./svc/v1/schedule_pb.ts";
export * from "./svc/v1/statistics_pb.ts";
export * from "./svc/v1/webhook_pb.ts";
