import type { RetryPolicy, TargetDefinition, TargetKind } from "../definition.ts";
import { findModule, moduleCandidates } from "./module.ts";
import { readBoolean, readChoice, readDescription, readName, readNumber, readText } from "./scalars.ts";
import type { View } from "./view.ts";
import { readWebhooks } from "./webhook.ts";

/** Begins the names of the tools with which models control the service. */
export const controlToolPrefix = "svc_";

const weekSeconds = 7 * 24 * 3600;

/** Reads `agents` or `workflows`. With the project's `files`, checks that each target has its module. */
export function readTargets(
  view: View | null,
  kind: TargetKind,
  files: ReadonlySet<string> | undefined,
  claimed: Map<string, TargetKind>,
): TargetDefinition[] {
  const targets: TargetDefinition[] = [];
  for (const item of view?.items() ?? []) {
    const target = readTarget(item, kind, files, claimed);
    if (target !== null) targets.push(target);
  }
  return targets;
}

function readTarget(
  view: View,
  kind: TargetKind,
  files: ReadonlySet<string> | undefined,
  claimed: Map<string, TargetKind>,
): TargetDefinition | null {
  const fields = view.fields([
    "name",
    "display_name",
    "description",
    "expose_as_tool",
    "timeout",
    "enable_retry",
    "retry_policy",
    "on_failure",
    "webhooks",
  ]);
  if (fields === null) return null;
  const nameView = fields.require("name");
  const name = nameView === null ? null : readName(nameView);
  const displayNameView = fields.get("display_name");
  const displayName = displayNameView === null ? name : readText(displayNameView);
  const descriptionView = fields.get("description");
  const description = descriptionView === null ? "" : readDescription(descriptionView);
  const toolView = fields.get("expose_as_tool");
  const isTool = toolView === null ? false : readBoolean(toolView);
  const timeoutView = fields.get("timeout");
  const timeoutSeconds =
    timeoutView === null ? 300 : readNumber(timeoutView, { min: 0, above: true, max: weekSeconds });
  const enableRetry = fields.get("enable_retry");
  const retries = enableRetry === null ? false : readBoolean(enableRetry);
  const policyView = fields.get("retry_policy");
  const policy = policyView === null ? defaultPolicy : readPolicy(policyView);
  const hookView = fields.get("on_failure");
  if (hookView !== null && hookView.value !== false) {
    hookView.fail(`${hookView.path} must be false: on_failure of the project names the hook`);
  }
  const webhooks = readWebhooks(fields.get("webhooks"));
  if (nameView === null || name === null) return null;

  const holder = claimed.get(name);
  if (holder === kind) return nameView.fail(`two ${kind}s are named "${name}"`);
  if (holder !== undefined) {
    return nameView.fail(`an agent and a workflow may not share the name "${name}"`);
  }
  claimed.set(name, kind);
  if (isTool && name.startsWith(controlToolPrefix)) {
    return nameView.fail(
      `${kind} "${name}" may not be a tool: tools whose name begins with ${controlToolPrefix} belong to the service`,
    );
  }
  const module = findModule(kind, name, files);
  if (module === null) {
    return nameView.fail(`${kind} "${name}" has no module: expected ${moduleCandidates(kind, name)}`);
  }
  if (displayName === null || description === null || isTool === null) return null;
  if (timeoutSeconds === null || retries === null || policy === null) return null;
  return {
    kind,
    name,
    displayName,
    ...(description !== "" && { description }),
    ...(isTool && { exposeAsTool: true }),
    module,
    timeoutSeconds,
    retry: retries ? policy : null,
    ...(enableRetry === null && policyView !== null && { hasUnusedRetryPolicy: true }),
    webhooks,
    ...(hookView !== null && { onFailure: false }),
  };
}

const defaultPolicy: RetryPolicy = {
  maxRetries: 3,
  strategy: "exponential",
  initialDelaySeconds: 1,
  maxDelaySeconds: 300,
};

function readPolicy(view: View): RetryPolicy | null {
  const fields = view.fields(["max_retries", "strategy", "initial_delay", "max_delay"]);
  if (fields === null) return null;
  const retriesView = fields.get("max_retries");
  const strategyView = fields.get("strategy");
  const initialView = fields.get("initial_delay");
  const maxView = fields.get("max_delay");
  const delay = { min: 0, max: weekSeconds };
  const maxRetries =
    retriesView === null
      ? defaultPolicy.maxRetries
      : readNumber(retriesView, { min: 0, max: 1000, whole: true });
  const strategy =
    strategyView === null
      ? defaultPolicy.strategy
      : readChoice(strategyView, ["exponential", "fixed"] as const);
  const initialDelaySeconds =
    initialView === null ? defaultPolicy.initialDelaySeconds : readNumber(initialView, delay);
  const maxDelaySeconds = maxView === null ? defaultPolicy.maxDelaySeconds : readNumber(maxView, delay);
  if (maxRetries === null || strategy === null || initialDelaySeconds === null || maxDelaySeconds === null) {
    return null;
  }
  if (initialDelaySeconds > maxDelaySeconds) {
    const rule = `${view.path}.initial_delay (${initialDelaySeconds}) may not be over max_delay (${maxDelaySeconds})`;
    return (initialView ?? maxView ?? view).fail(rule);
  }
  return { maxRetries, strategy, initialDelaySeconds, maxDelaySeconds };
}
