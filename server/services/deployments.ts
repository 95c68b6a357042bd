/** Implements DeploymentService. */

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import type { ProjectDefinition } from "../../project/definition.ts";
import {
  CreateUploadResponseSchema,
  type Deployment,
  DeploymentEventSchema,
  type DeploymentService,
  DownloadDeploymentResponseSchema,
  ListDeploymentsResponseSchema,
  PackageFileSchema,
} from "../../proto/svc/v1/deployment_pb.ts";
import { callerOf } from "../auth/caller.ts";
import { fail, invalid, notFound, statusHeader } from "../errors.ts";
import { isId, orderedId } from "../ids.ts";
import { noTickEffects, processDueTicksOfProject } from "../schedules/ticks.ts";
import { deleteDeployment } from "../store/activation.ts";
import {
  type Actor,
  type DeploymentRow,
  getDeployment,
  listDeployments,
  listEvents,
} from "../store/deployments.ts";
import { parseStored } from "../store/json.ts";
import { getObject, insertUpload } from "../store/objects.ts";
import { listSchedulesOf } from "../store/schedules.ts";
import {
  aboutOf,
  activationOf,
  afterActivation,
  deploymentName,
  logDeployment,
  notifyTickEffects,
  rethrowConflict,
  switchTo,
} from "./activation.ts";
import type { App } from "./app.ts";
import { audit } from "./audit.ts";
import { optionalTime, toDeployment } from "./convert.ts";
import { deploy } from "./deploy.ts";
import { deploymentWarnings } from "./deployment-warnings.ts";
import {
  checkedWord,
  deploymentStatuses,
  environmentFilter,
  environmentOf,
  paged,
  pageOf,
} from "./request.ts";

const uploadMs = 3600_000;
const downloadMs = 900_000;
const digestPattern = /^[0-9a-f]{64}$/;

export function deploymentService(app: App): ServiceImpl<typeof DeploymentService> {
  const { engine, storage, config } = app;

  async function require(orgId: string, deploymentId: string): Promise<DeploymentRow> {
    const row = isId("dep", deploymentId)
      ? await engine.read(() => getDeployment(orgId, deploymentId))
      : undefined;
    if (row === undefined) throw notFound(`There is no deployment '${deploymentId.slice(0, 80)}'.`);
    return row;
  }

  async function describe(orgId: string, deploymentId: string): Promise<Deployment> {
    const row = await require(orgId, deploymentId);
    const message = toDeployment(row, app.baseUrl());
    if (row.status !== "failed" && row.status !== "deleted") {
      const definition = parseStored<ProjectDefinition>(row.definition);
      message.warnings = deploymentWarnings(definition, await app.vault.open(orgId));
    }
    const schedules = await engine.read(() => listSchedulesOf(orgId, deploymentId));
    for (const schedule of message.schedules) {
      const row = schedules.find((candidate) => candidate.name === schedule.name);
      schedule.nextRunAt = optionalTime(row?.next_due_at);
    }
    return message;
  }

  return {
    async createUpload(request, context) {
      const { orgId } = callerOf(context);
      checkDigest(request.digest);
      if (request.sizeBytes === 0 || request.sizeBytes > config.limits.packageBytes) {
        throw invalid(
          `Cannot store a package of ${request.sizeBytes} bytes: it must have 1 to ${config.limits.packageBytes} (SVC_MAX_PACKAGE_BYTES).`,
          { status: request.sizeBytes === 0 ? 400 : 413 },
        );
      }
      const now = Date.now();
      const upload = {
        org_id: orgId,
        upload_id: orderedId("upl", now),
        digest: request.digest,
        size_bytes: request.sizeBytes,
        created_at: now,
        expires_at: now + uploadMs,
      };
      const stored = await engine.write(function* () {
        const object = yield* getObject(orgId, request.digest);
        if (object === undefined) yield* insertUpload(upload);
        return object !== undefined;
      });
      const key = { orgId, digest: request.digest };
      return create(CreateUploadResponseSchema, {
        uploadId: upload.upload_id,
        url: stored ? "" : storage.signUrl("PUT", key, upload.expires_at, app.baseUrl(), upload.upload_id),
        expiresAt: timestampFromMs(upload.expires_at),
        alreadyStored: stored,
      });
    },

    async createDeployment(request, context) {
      const caller = callerOf(context);
      const { sourceDeploymentId } = request;
      const source = sourceDeploymentId === "" ? null : await require(caller.orgId, sourceDeploymentId);
      const digest = request.digest === "" && source !== null ? source.digest : request.digest;
      checkDigest(digest);
      if (source !== null && digest !== source.digest) {
        throw invalid(
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
      if (request.includeFiles) {
        const files = parseStored<{ path: string; sizeBytes: number; digest: string }[]>(row.files);
        message.files = files.map((file) => create(PackageFileSchema, file));
      }
      const events = await engine.read(() => listEvents(orgId, request.deploymentId));
      message.events = events.map(({ at, event, key_id, key_name }) =>
        create(DeploymentEventSchema, {
          at: timestampFromMs(at),
          event,
          by: key_id === null ? undefined : { keyId: key_id, name: key_name ?? "" },
        }),
      );
      return message;
    },

    async listDeployments(request, context) {
      const { orgId } = callerOf(context);
      const page = pageOf(request);
      const filter = {
        environment: environmentFilter(request.environment, context),
        project: request.project,
        status: checkedWord("status", request.status, deploymentStatuses),
        before: page.before,
        limit: page.limit + 1,
      };
      const found = await engine.read(() => listDeployments(orgId, filter));
      const { rows, nextPageToken } = paged(found, page, (row) => row.deployment_id);
      const deployments = rows.map((row) => toDeployment(row, app.baseUrl()));
      return create(ListDeploymentsResponseSchema, { deployments, nextPageToken });
    },

    async rollbackDeployment(request, context) {
      const caller = callerOf(context);
      const actor: Actor = { keyId: caller.keyId, keyName: caller.keyName };
      const row = await require(caller.orgId, request.deploymentId);
      await app.packages.ensure({ orgId: row.org_id, digest: row.digest });
      const effects = await engine
        .write(function* () {
          const now = yield* getDeployment(caller.orgId, request.deploymentId);
          if (now === undefined || (now.status !== "superseded" && now.status !== "active")) {
            throw fail(
              Code.FailedPrecondition,
              `Cannot roll back to ${request.deploymentId}: only a superseded deployment can be activated again; this one is ${now?.status}.`,
              { status: 409 },
            );
          }
          if (now.status !== "superseded") return noTickEffects();
          const due = yield* switchTo(activationOf(now, actor));
          yield* audit(caller, "deployment.rolled_back", `to ${deploymentName(now)}`, aboutOf(now));
          return due;
        })
        .catch(rethrowConflict);
      afterActivation(app, row, effects);
      return describe(caller.orgId, request.deploymentId);
    },

    async deleteDeployment(request, context) {
      const caller = callerOf(context);
      const row = await require(caller.orgId, request.deploymentId);
      const effects = await engine.write(function* () {
        const now = yield* getDeployment(caller.orgId, request.deploymentId);
        if (now?.status === "active" && !request.force) {
          throw fail(
            Code.FailedPrecondition,
            `Cannot delete ${request.deploymentId}: it is the active deployment of '${row.project}' in ${row.environment}; pass force to delete it.`,
            { status: 409 },
          );
        }
        if (now === undefined || now.status === "deleted") return noTickEffects();
        const due =
          now.status === "active" ? yield* processDueTicksOfProject(now, Date.now()) : noTickEffects();
        const actor = { keyId: caller.keyId, keyName: caller.keyName };
        yield* deleteDeployment(caller.orgId, request.deploymentId, actor, Date.now());
        yield* audit(caller, "deployment.deleted", deploymentName(now), aboutOf(now));
        return due;
      });
      app.routes.forget(caller.orgId);
      notifyTickEffects(app, effects);
      logDeployment(app, row, `Deployment ${row.deployment_id} of '${row.project}' was deleted.`);
      return describe(caller.orgId, request.deploymentId);
    },

    async downloadDeployment(request, context) {
      const { orgId } = callerOf(context);
      const row = await require(orgId, request.deploymentId);
      const key = { orgId, digest: row.digest };
      if ((await engine.read(() => getObject(orgId, row.digest))) === undefined) {
        throw notFound(`The package of deployment ${row.deployment_id} was deleted.`);
      }
      const expiresAt = Date.now() + downloadMs;
      const url = storage.signUrl("GET", key, expiresAt, app.baseUrl(), `${row.deployment_id}.tar.gz`);
      context.responseHeader.set(statusHeader, "307");
      context.responseHeader.set("location", url);
      return create(DownloadDeploymentResponseSchema, {
        url,
        digest: row.digest,
        sizeBytes: row.size_bytes,
        expiresAt: timestampFromMs(expiresAt),
      });
    },
  };
}

function checkDigest(digest: string): void {
  if (!digestPattern.test(digest)) {
    throw invalid(
      `Cannot use digest '${digest.slice(0, 80)}': it must be a SHA-256 in 64 lower-case hexadecimal digits.`,
    );
  }
}
