/** Runs an agent or workflow, with the input of an earlier execution if the address names one. */
import type { JsonObject } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { Card, Empty, Failure, Heading, Loading } from "../components/basics.tsx";
import { SchemaForm } from "../components/schema-form.tsx";
import { api, environment, messageOf } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { go } from "../lib/router.ts";
import { formOf } from "../lib/schema-form.ts";
import { allows } from "../lib/session.ts";
import { listTargets, type Target } from "../lib/targets.ts";

export function RunPage({ query }: { query: URLSearchParams }) {
  const replayed = query.get("replay") ?? "";
  const { data, error, loading, reload } = useLoad(async (signal) => {
    const targets = await listTargets(signal);
    const source =
      replayed === "" ? null : await api.executions.getExecution({ executionId: replayed }, { signal });
    return { targets, source };
  }, replayed);
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  const { targets, source } = data;
  if (!allows("trigger")) {
    return (
      <>
        <Heading title="Run" />
        <Empty title="Your API key may not run agents: it needs the scope trigger." />
      </>
    );
  }
  if (targets.length === 0) {
    return (
      <>
        <Heading title="Run" />
        <Empty title="Nothing is deployed.">
          <p>
            <code>svc init hello</code> creates a project, and <code>svc push</code> deploys it.
          </p>
        </Empty>
      </>
    );
  }
  const wanted = source?.name ?? query.get("name") ?? "";
  return (
    <>
      <Heading title={source === null ? "Run" : `Replay ${source.name}`} />
      <RunForm
        targets={targets}
        wanted={wanted}
        input={source?.input === undefined ? "{}" : JSON.stringify(source.input, null, 2)}
        replayed={replayed}
      />
    </>
  );
}

/** The form for the input of a target; null when its schema needs JSON. */
async function loadForm({ deploymentId, name }: Target, signal: AbortSignal) {
  const { agents, workflows } = await api.deployments.getDeployment({ deploymentId }, { signal });
  return formOf([...agents, ...workflows].find((one) => one.name === name)?.inputSchema);
}

/** Null when the text is not a JSON object. */
function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim() || "{}");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function RunForm({
  targets,
  wanted,
  input,
  replayed,
}: {
  targets: readonly Target[];
  wanted: string;
  input: string;
  replayed: string;
}) {
  const keyOf = (target: Target) => `${target.environment}/${target.name}`;
  const first =
    targets.find((one) => one.name === wanted && one.environment === (environment || "production")) ??
    targets.find((one) => one.name === wanted) ??
    targets[0];
  const [chosen, setChosen] = useState(first === undefined ? "" : keyOf(first));
  const [text, setText] = useState(input);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => setText(input), [input]);
  const target = targets.find((one) => keyOf(one) === chosen);
  const { data: fields = null } = useLoad(
    (signal) => (target === undefined ? Promise.resolve(null) : loadForm(target, signal)),
    `${target?.deploymentId}/${target?.name}`,
  );
  const value = parsed(text);

  async function run(): Promise<void> {
    setProblem("");
    let value: unknown;
    try {
      value = JSON.parse(text.trim() || "{}");
    } catch (error) {
      return setProblem(`The input is not JSON: ${error instanceof Error ? error.message : ""}`);
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return setProblem("The input must be a JSON object.");
    }
    if (target === undefined) return;
    setBusy(true);
    try {
      const json = value as JsonObject;
      const started =
        replayed === ""
          ? await api.executions.runExecution({
              name: target.name,
              environment: target.environment,
              input: json,
            })
          : await api.executions.replayExecution({ executionId: replayed, input: json });
      go(["executions", started.executionId]);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  }

  return (
    <Card title="Input">
      <form
        class="run"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label for="target">Agent or workflow</label>
        <select
          id="target"
          value={chosen}
          disabled={replayed !== ""}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {targets.map((one) => (
            <option key={keyOf(one)} value={keyOf(one)}>
              {one.name} ({one.kind}, {one.environment})
            </option>
          ))}
        </select>
        {target === undefined || target.description === "" ? null : <p class="dim">{target.description}</p>}
        {fields === null || value === null ? null : (
          <SchemaForm
            fields={fields}
            value={value}
            onChange={(next) => setText(JSON.stringify(next, null, 2))}
          />
        )}
        <label for="input">Input, a JSON object</label>
        <textarea
          id="input"
          rows={12}
          spellcheck={false}
          value={text}
          aria-invalid={problem !== ""}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {problem === "" ? null : (
          <p class="failure" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {replayed === "" ? "Run" : "Replay"}
          </button>
        </div>
      </form>
    </Card>
  );
}
