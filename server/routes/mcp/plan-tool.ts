/** The tool that compares a project file with the active deployment of its project. */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { parseProjectFile } from "../../../project/file/parse.ts";
import type { JsonObject } from "../../../project/json.ts";
import { PROJECT_FILE } from "../../../project/names.ts";
import { emptySnapshot, planChanges } from "../../../project/plan/plan.ts";
import { snapshotOfDeployment, snapshotOfProject } from "../../../project/plan/snapshot.ts";
import { formatProblem } from "../../../project/problem.ts";
import { type Deployment, DeploymentSchema, DeploymentService } from "../../../proto/svc/v1/deployment_pb.ts";
import { defaultEnvironment } from "../../services/request.ts";
import { callUnary, type Session } from "../internal/calls.ts";
import { inputSchemaOf } from "./input-schema.ts";
import { failure, jsonResult, type Tool } from "./tool.ts";

const { listDeployments } = DeploymentService.method;
const base = inputSchemaOf(listDeployments, ["environment"]);

export const planTool: Tool = {
  name: "svc_plan_push",
  title: "Plan a push",
  description: `Validates the text of a project file, ${PROJECT_FILE}, and returns what a push of it would add, change and remove: agents, workflows, webhooks and schedules. Deploys nothing, and does not compare code.`,
  inputSchema: {
    ...base,
    properties: {
      project_file: { type: "string", description: `Text of ${PROJECT_FILE}. At most 256 KiB.` },
      ...(base.properties as JsonObject),
    },
    required: ["project_file"],
  },
  hints: { readOnly: true },
  method: listDeployments,
  async run(session, { project_file: text, environment: named, ...rest }) {
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) return failure(`The parameter ${unknown} is unknown.`);
    if (typeof text !== "string") return failure("The parameter project_file must be text.");
    const environment = String(named ?? (session.environment || defaultEnvironment));
    const parsed = parseProjectFile(Buffer.from(text));
    if (parsed.definition === null) {
      return failure(parsed.problems.map((problem) => formatProblem(PROJECT_FILE, problem)).join("\n"));
    }
    const { definition } = parsed;
    const active = await activeDeployment(session, definition.name, environment);
    const before = active === null ? emptySnapshot : snapshotOfDeployment(active);
    const { files: _, ...plan } = planChanges(before, {
      ...snapshotOfProject(definition, []),
      files: before.files,
    });
    return jsonResult({
      ...{ project: definition.name, version: definition.version, environment },
      active_deployment_id: active?.deploymentId ?? null,
      plan: plan as unknown as JsonObject,
    });
  },
};

async function activeDeployment(
  session: Session,
  project: string,
  environment: string,
): Promise<Deployment | null> {
  const request = { status: "active", project, environment, page_size: 1 };
  const { deployments } = await callUnary(session, listDeployments, request);
  const [active] = deployments as JsonValue[];
  return active === undefined ? null : fromJson(DeploymentSchema, active);
}
