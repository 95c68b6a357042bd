import type { FailureHook, TargetKind } from "../definition.ts";
import { quoted } from "../problem.ts";
import { readName, readText } from "./scalars.ts";
import type { View } from "./view.ts";

/**
 * Reads `on_failure`: the name of an agent or workflow of the project, or the URL of a webhook and the secret that signs
 * its requests.
 */
export function readOnFailure(view: View, targets: ReadonlyMap<string, TargetKind>): FailureHook | null {
  if (view.isEmpty) return view.fail(`${view.path} must be the name of an agent or workflow, or a map`);
  if (typeof view.value === "string") {
    const name = readName(view);
    const kind = name === null ? undefined : targets.get(name);
    if (name !== null && kind !== undefined) return { kind, name };
    const hint = view.didYouMean(view.value, [...targets.keys()]);
    return name === null ? null : view.fail(`no agent or workflow is named ${quoted(name)}${hint}`);
  }
  const fields = view.fields(["url", "secret"]);
  if (fields === null) return null;
  const urlView = fields.require("url");
  const secretView = fields.require("secret");
  const url = urlView === null ? null : readUrl(urlView);
  const secret = secretView === null ? null : readName(secretView);
  return url === null || secret === null ? null : { url, secret };
}

function readUrl(view: View): string | null {
  const text = readText(view);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return view.fail(`${view.path} must be an http or https URL, not ${quoted(text)}`);
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    return view.fail(`${view.path} must be a URL without a user, a password and a fragment`);
  }
  return url.href;
}
