/** The standard services of gRPC: health checking and server reflection. They need no key. */
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { Health } from "../../../proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../../proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { Descriptors } from "./descriptors.ts";
import { grpcHealth } from "./health.ts";
import type { Readiness } from "./readiness.ts";
import { reflection, reflectionAlpha } from "./reflection.ts";

export const standardServices: readonly DescService[] = [Health, ServerReflection, ServerReflectionAlpha];

/** @param services - the services of the contract */
export function registerStandardServices(
  router: ConnectRouter,
  readiness: Readiness,
  services: readonly DescService[],
): void {
  const names = services.map(({ typeName }) => typeName);
  const descriptors = new Descriptors([...services, ...standardServices]);
  router.service(Health, grpcHealth(readiness, names));
  router.service(ServerReflection, reflection(descriptors));
  router.service(ServerReflectionAlpha, reflectionAlpha(descriptors));
}
