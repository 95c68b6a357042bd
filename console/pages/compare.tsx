/** Two executions side by side, and where their values differ. */
import type { ComponentChildren } from "preact";
import { differences } from "../../project/plan/json-differences.ts";
import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { Card, Empty, Failure, FullTime, Heading, Id, Loading, Status } from "../components/basics.tsx";
import { Scroll } from "../components/scroll.tsx";
import { api, isRefusedId } from "../lib/api.ts";
import { dateOf, localTime, shortId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { href, setQuery } from "../lib/router.ts";
import { toJson } from "../lib/value.ts";
import { tookOf } from "./executions.tsx";

/** Shown differences. */
const maxDifferences = 200;

export function ComparePage({ query }: { query: URLSearchParams }) {
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  const { data, error, loading, reload } = useLoad(async (signal) => {
    const get = (executionId: string) => api.executions.getExecution({ executionId }, { signal });
    const first = await get(a);
    const { executions } = await api.executions.listExecutions(
      { name: first.name, environment: first.environment, pageSize: 50 },
      { signal },
    );
    const others = executions.filter(({ executionId }) => executionId !== a);
    const [second, missing] = await found(b, get);
    return { first, others, second, missing };
  }, `${a} ${b}`);
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  const { first, second, missing, others } = data;
  return (
    <>
      <Heading title={`Compare ${first.name}`} />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Compared with
          <select value={b} onChange={(event) => setQuery({ b: event.currentTarget.value })}>
            <option value="">choose an execution</option>
            {missing === undefined ? null : <option value={b}>{shortId(b)}</option>}
            {second === null || others.some(({ executionId }) => executionId === b) ? null : (
              <option value={b}>{textOf(second)}</option>
            )}
            {others.map((execution) => (
              <option key={execution.executionId} value={execution.executionId}>
                {textOf(execution)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Or its id
          <input
            type="search"
            placeholder="exe_…"
            onChange={({ currentTarget }) => {
              const id = currentTarget.value.trim();
              if (id !== "") setQuery({ b: id });
            }}
          />
        </label>
      </form>
      {missing === undefined ? null : <Failure error={missing} />}
      {second === null ? (
        <Empty title="Choose the other execution." />
      ) : (
        <>
          <Facts a={first} b={second} />
          {(["input", "output", "error"] as const).map((part) => (
            <Differences key={part} part={part} a={partOf(first, part)} b={partOf(second, part)} />
          ))}
        </>
      )}
    </>
  );
}

/** The execution, null without an id, or the error for an id that is unknown. */
async function found(
  id: string,
  get: (id: string) => Promise<Execution>,
): Promise<[second: Execution | null, missing: unknown]> {
  if (id === "") return [null, undefined];
  try {
    return [await get(id), undefined];
  } catch (error) {
    if (!isRefusedId(error)) throw error;
    return [null, error];
  }
}

function textOf({ executionId, status, createdAt }: Execution): string {
  const date = dateOf(createdAt);
  return [shortId(executionId), status, date === null ? "" : localTime(date)].join(" · ");
}

function Facts({ a, b }: { a: Execution; b: Execution }) {
  const link = (section: string, id: string) => (
    <a href={href([section, id])}>
      <Id value={id} />
    </a>
  );
  const rows: [string, (execution: Execution) => ComponentChildren][] = [
    ["Execution", ({ executionId }) => link("executions", executionId)],
    ["Name", ({ name }) => name],
    ["Environment", ({ environment }) => environment],
    ["Status", ({ status }) => <Status value={status} />],
    ["Trigger", ({ trigger }) => trigger],
    ["Deployment", ({ deploymentId }) => link("deployments", deploymentId)],
    ["Created", ({ createdAt }) => <FullTime value={createdAt} />],
    ["Took", (execution) => tookOf(execution) || "–"],
    ["Attempt", ({ attempt }) => String(attempt)],
  ];
  return (
    <Card title="Summary">
      <Scroll label="Summary">
        <table class="compare">
          <tbody>
            {rows.map(([title, cell]) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td>{cell(a)}</td>
                <td>{cell(b)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}

function partOf(execution: Execution, part: "input" | "output" | "error"): unknown {
  if (part === "input") return execution.input ?? {};
  if (part === "output") return toJson(execution.output);
  const { error } = execution;
  return error === undefined ? null : { name: error.name, message: error.message, stack: error.stack };
}

function Differences({ part, a, b }: { part: "input" | "output" | "error"; a: unknown; b: unknown }) {
  const found = differences(a, b);
  return (
    <Card title={`${part.charAt(0).toUpperCase()}${part.slice(1)}`}>
      {found.length === 0 ? (
        <p class="dim">{part !== "input" && a === null ? "None." : "Equal."}</p>
      ) : (
        <Scroll label={`Differences of the ${part}`}>
          <table class="compare">
            <tbody>
              {found.slice(0, maxDifferences).map((difference) => (
                <tr key={difference.path}>
                  <th scope="row">
                    <code>{breakable(difference.path || part)}</code>
                  </th>
                  <td>{"a" in difference ? <Value value={difference.a} kind="removed" /> : "–"}</td>
                  <td>{"b" in difference ? <Value value={difference.b} kind="added" /> : "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {found.length > maxDifferences ? (
            <p class="dim">{found.length - maxDifferences} more differences.</p>
          ) : null}
        </Scroll>
      )}
    </Card>
  );
}

/** A path may wrap before each of its steps. */
function breakable(path: string): ComponentChildren {
  return path.split(/(?=[.[])/).map((step, index) => (
    <>
      {index === 0 ? null : <wbr />}
      {step}
    </>
  ));
}

function Value({ value, kind }: { value: unknown; kind: string }) {
  return <pre class={kind}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>;
}
