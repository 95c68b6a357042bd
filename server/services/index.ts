/** The services of the contract and their implementations. */
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { DeploymentService } from "../../proto/svc/v1/deployment_pb.ts";
import { ExecutionService } from "../../proto/svc/v1/execution_pb.ts";
import { HealthService } from "../../proto/svc/v1/health_pb.ts";
import { OrganizationService } from "../../proto/svc/v1/organization_pb.ts";
import { ScheduleService } from "../../proto/svc/v1/schedule_pb.ts";
import { StatisticsService } from "../../proto/svc/v1/statistics_pb.ts";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import type { App } from "./app.ts";
import { deploymentService } from "./deployments/service.ts";
import { executionService } from "./executions/service.ts";
import { healthService } from "./health.ts";
import { organizationService } from "./organizations.ts";
import { scheduleService } from "./schedules.ts";
import { statisticsService } from "./statistics.ts";
import { webhookService } from "./webhooks.ts";

export const services: readonly DescService[] = [
  DeploymentService,
  WebhookService,
  ExecutionService,
  ScheduleService,
  OrganizationService,
  HealthService,
  StatisticsService,
];

export function registerServices(router: Pick<ConnectRouter, "service">, app: App): void {
  router.service(DeploymentService, deploymentService(app));
  router.service(WebhookService, webhookService(app));
  router.service(ExecutionService, executionService(app));
  router.service(ScheduleService, scheduleService(app));
  router.service(OrganizationService, organizationService(app));
  router.service(HealthService, healthService(app));
  router.service(StatisticsService, statisticsService(app));
}
