/** Implements DeploymentService. */

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../../project/definition.ts";
import {
  type Deployment,
  DeploymentEventSchema,
  DeploymentSchema,
  type DeploymentService,
  DownloadDeploymentResponseSchema,
  ListDeploymentsResponseSchema,
} from "../../../proto/svc/v1/deployment_pb.ts";
import { callerOf } from "../../auth/caller.ts";
import { invalidField, noResource, statusHeader, wrongState } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { processDueTicksOfProject } from "../../schedules/ticks.ts";
import { deleteDeployment } from "../../store/tables/activation.ts";
import {
  type Actor,
  type DeploymentRow,
  getDeployment,
  listDeployments,
  listEvents,
} from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";
import { getObject } from "../../store/tables/objects.ts";
import { lockOrganization } from "../../store/tables/organizations.ts";
import { listSchedulesOf } from "../../store/tables/schedules.ts";
import { listSchemas } from "../../store/tables/schemas.ts";
import type { App } from "../app.ts";
import { audit } from "../audit.ts";
import { optionalTime, toDeployment } from "../convert.ts";
import { hasMessageLimit } from "../grpc-size.ts";
import { listPage, pageOf } from "../page.ts";
import { environmentFilter, environmentOf } from "../request.ts";
import {
  aboutOf,
  activationOf,
  afterActivation,
  deploymentName,
  logDeployment,
  rethrowConflict,
  switchTo,
} from "./activation.ts";
import { checkNetwork, deploy } from "./deploy.ts";
import { addFiles } from "./files.ts";
import { addSchemas } from "./schemas.ts";
import { readSourceLines } from "./source.ts";
import { createUpload } from "./uploads.ts";
import { deploymentWarnings } from "./warnings.ts";

const downloadMs = 900_000;
/** A row holds the definition and the list of files. */
const rowsOfRead = 50;

export function deploymentService(app: App): ServiceImpl<typeof DeploymentService> {
  const { engine, storage } = app;

  async function require(orgId: string, deploymentId: string): Promise<DeploymentRow> {
    const row = isId("dep", deploymentId)
      ? await engine.read(() => getDeployment(orgId, deploymentId))
      : undefined;
    if (row === undefined) {
      throw noResource("deployment", deploymentId, `There is no deployment '${deploymentId.slice(0, 80)}'.`);
    }
    return row;
  }

  /** @throws ConnectError `failed_precondition`: the package of a deleted deployment is removed after a day */
  async function requireKept(orgId: string, deploymentId: string, verb: string): Promise<DeploymentRow> {
    const row = await require(orgId, deploymentId);
    if (row.status !== "deleted") return row;
    throw wrongState(
      "DEPLOYMENT_DELETED",
      "deployment",
      deploymentId,
      `Cannot ${verb} ${deploymentId}: it was deleted.`,
    );
  }

  async function describe(orgId: string, deploymentId: string): Promise<Deployment> {
    const row = await require(orgId, deploymentId);
    const message = toDeployment(row, app.baseUrl());
    if (row.status !== "failed" && row.status !== "deleted") {
      const definition = parseStored<ProjectDefinition>(row.definition);
      message.warnings = deploymentWarnings(definition, await app.vault.open(orgId, row.environment));
    }
    addSchemas(message, await engine.read(() => listSchemas(orgId, deploymentId)));
    const schedules = await engine.read(() => listSchedulesOf(orgId, deploymentId));
    for (const schedule of message.schedules) {
      const row = schedules.find((candidate) => candidate.name === schedule.name);
      schedule.nextRunAt = optionalTime(row?.next_due_at);
    }
    return message;
  }

  return {
    async createUpload(request, context) {
      return createUpload(app, callerOf(context).orgId, request);
    },

    async createDeployment(request, context) {
      const caller = callerOf(context);
      const { sourceDeploymentId } = request;
      const source =
        sourceDeploymentId === "" ? null : await requireKept(caller.orgId, sourceDeploymentId, "promote");
      const digest = request.digest === "" && source !== null ? source.digest : request.digest;
      if (digest === "") {
        throw invalidField("digest", "REQUIRED", "Cannot deploy: pass digest or source_deployment_id.");
      }
      if (source !== null && digest !== source.digest) {
        throw invalidField(
          "digest",
          "CONFLICT",
          `Cannot promote ${sourceDeploymentId}: its package is ${source.digest}, not ${digest}.`,
        );
      }
      const environment = environmentOf(request.environment, context);
      const { deploymentId, unchanged } = await deploy(app, {
        caller,
        source,
        digest,
        environment,
        redeploy: request.redeploy,
      });
      const message = await describe(caller.orgId, deploymentId);
      message.unchanged = unchanged;
      return message;
    },

    async getDeployment(request, context) {
      const { orgId } = callerOf(context);
      const message = await describe(orgId, request.deploymentId);
      const row = await require(orgId, request.deploymentId);
      const events = await engine.read(() => listEvents(orgId, request.deploymentId));
      message.events = events.map(({ at, event, key_id, key_name }) =>
        create(DeploymentEventSchema, {
          at: timestampFromMs(at),
          event,
          by: key_id === null ? undefined : { keyId: key_id, name: key_name ?? "" },
        }),
      );
      if (request.includeFiles) {
        await addFiles(message, row, request.filesPageToken, hasMessageLimit(context));
      }
      return message;
    },

    async listDeployments(request, context) {
      const { orgId } = callerOf(context);
      const { project, status } = request;
      const filter = { environment: environmentFilter(request.environment, context), project, status };
      const page = pageOf(request, ["ListDeployments", filter]);
      const { entries, nextPageToken } = await listPage(page, {
        read: (before, limit) => engine.read(() => listDeployments(orgId, { ...filter, before, limit })),
        keyOf: (row) => row.deployment_id,
        schema: DeploymentSchema,
        convert: (row) => toDeployment(row, app.baseUrl()),
        readSize: rowsOfRead,
      });
      return create(ListDeploymentsResponseSchema, { deployments: entries, nextPageToken });
    },

    async rollbackDeployment(request, context) {
      const caller = callerOf(context);
      const actor: Actor = { keyId: caller.keyId, keyName: caller.keyName };
      const row = await require(caller.orgId, request.deploymentId);
      // The boundary may be a weaker one than at the push.
      checkNetwork(app, await app.definitionOf(row.org_id, row.deployment_id));
      await app.packages.ensure({ orgId: row.org_id, digest: row.digest });
      await engine
        .write(function* () {
          yield* lockOrganization(caller.orgId);
          const now = yield* getDeployment(caller.orgId, request.deploymentId);
          if (now === undefined || (now.status !== "superseded" && now.status !== "active")) {
            throw wrongState(
              "DEPLOYMENT_NOT_SUPERSEDED",
              "deployment",
              request.deploymentId,
              `Cannot roll back to ${request.deploymentId}: only a superseded deployment can be activated again; this one is ${now?.status}.`,
            );
          }
          if (now.status !== "superseded") return;
          yield* switchTo(activationOf(now, actor));
          yield* audit(caller, "deployment.rolled_back", `to ${deploymentName(now)}`, aboutOf(now));
        })
        .catch(rethrowConflict);
      afterActivation(app, row);
      return describe(caller.orgId, request.deploymentId);
    },

    async deleteDeployment(request, context) {
      const caller = callerOf(context);
      const row = await require(caller.orgId, request.deploymentId);
      await engine.write(function* () {
        yield* lockOrganization(caller.orgId);
        const now = yield* getDeployment(caller.orgId, request.deploymentId);
        if (now?.status === "active" && !request.force) {
          throw wrongState(
            "DEPLOYMENT_ACTIVE",
            "deployment",
            request.deploymentId,
            `Cannot delete ${request.deploymentId}: it is the active deployment of '${row.project}' in ${row.environment}; pass force to delete it.`,
          );
        }
        if (now === undefined || now.status === "deleted") return;
        if (now.status === "active") yield* processDueTicksOfProject(now, Date.now());
        const actor = { keyId: caller.keyId, keyName: caller.keyName };
        yield* deleteDeployment(caller.orgId, request.deploymentId, actor, Date.now());
        yield* audit(caller, "deployment.deleted", deploymentName(now), aboutOf(now));
      });
      logDeployment(app, row, `Deployment ${row.deployment_id} of '${row.project}' was deleted.`);
      return describe(caller.orgId, request.deploymentId);
    },

    async downloadDeployment(request, context) {
      const { orgId } = callerOf(context);
      const row = await requireKept(orgId, request.deploymentId, "download");
      const key = { orgId, digest: row.digest };
      const isRecorded = (await engine.read(() => getObject(orgId, row.digest))) !== undefined;
      // Concurrent pushes of one package may have compressed it to different sizes.
      const sizeBytes = isRecorded ? await storage.sizeOf(key) : null;
      if (sizeBytes === null) {
        throw noResource(
          "package",
          row.digest,
          `The package of deployment ${row.deployment_id} was deleted.`,
        );
      }
      const expiresAt = Date.now() + downloadMs;
      const name = `${row.deployment_id}.tar.gz`;
      const url = await storage.signDownload(key, expiresAt, app.baseUrl(), name);
      context.responseHeader.set(statusHeader, "307");
      context.responseHeader.set("location", url);
      return create(DownloadDeploymentResponseSchema, {
        url,
        digest: row.digest,
        sizeBytes: BigInt(sizeBytes),
        expiresAt: timestampFromMs(expiresAt),
      });
    },

    async getSourceLines(request, context) {
      const row = await require(callerOf(context).orgId, request.deploymentId);
      return await readSourceLines(app, row, request);
    },
  };
}
