/** One execution, live: state, values, attempts, child executions and log. */

import { useRef, useState } from "preact/hooks";
import type { Execution, LogLine } from "../../proto/svc/v1/execution_pb.ts";
import {
  Card,
  Copy,
  Facts,
  Failure,
  FullTime,
  Heading,
  Id,
  Json,
  Loading,
  Status,
  Time,
} from "../components/basics.tsx";
import { ConfirmButton } from "../components/confirm.tsx";
import { LogView } from "../components/log-view.tsx";
import { Scroll } from "../components/scroll.tsx";
import { SourceLines } from "../components/source-lines.tsx";
import { Timeline } from "../components/timeline.tsx";
import { api } from "../lib/api.ts";
import { useLoad, useStream } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { go, href } from "../lib/router.ts";
import { allows } from "../lib/session.ts";
import { toJson } from "../lib/value.ts";
import { tookOf } from "./executions.tsx";

/** Entries that the page keeps; `svc logs` shows all. */
const maxLines = 5_000;

export function ExecutionPage({ id }: { id: string }) {
  const { data, error, loading, reload } = useLoad(
    (signal) => api.executions.getExecution({ executionId: id, view: "tree" }, { signal }),
    id,
  );
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [withChildren, setWithChildren] = useState(false);
  const cursor = useRef("");
  const { broken } = useStream(async (signal) => {
    const events = api.executions.watchExecution({ executionId: id, after: cursor.current }, { signal });
    let ended = false;
    for await (const { event } of events) {
      if (event.case === "log") {
        cursor.current = event.value.cursor;
        setLines((known) => [...known, event.value].slice(-maxLines));
      }
      if (event.case === "execution") {
        void reload();
        ended = isEnd(event.value.status);
      }
    }
    return ended;
  }, id);
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  return (
    <>
      <Heading title={data.name}>
        <a class="button" href={href(["executions", "compare"], { a: id, b: data.replayOf })}>
          Compare
        </a>
        <Actions execution={data} onChange={reload} />
      </Heading>
      <Summary execution={data} />
      {data.error === undefined ? null : <ErrorCard execution={data} />}
      {showsAttempts(data) ? <Attempts execution={data} /> : null}
      {data.childCount === 0 ? null : (
        <Card title="Child executions">
          <Timeline root={data} />
        </Card>
      )}
      <div class="columns">
        <Card title="Input">
          {data.inputOmitted ? (
            <p class="dim">Too large to show here.</p>
          ) : (
            <Json value={data.input ?? {}} label="input" />
          )}
        </Card>
        <Card title="Output">
          {data.outputOmitted ? (
            <p class="dim">Too large to show here.</p>
          ) : data.status === "succeeded" ? (
            <Json value={toJson(data.output)} label="output" />
          ) : (
            <p class="dim">{isEnd(data.status) ? "None." : "Not yet."}</p>
          )}
        </Card>
      </div>
      {data.mapping.length === 0 ? null : <Mapping execution={data} />}
      <Card title="Log">
        {broken ? <p class="dim">The connection is interrupted. Reconnecting …</p> : null}
        {data.childCount === 0 ? null : (
          <label class="toggle">
            <input
              type="checkbox"
              checked={withChildren}
              onChange={(event) => setWithChildren(event.currentTarget.checked)}
            />
            With the entries of child executions
          </label>
        )}
        {withChildren ? (
          <TreeLog id={id} live={!isEnd(data.status)} />
        ) : (
          <LogView lines={lines} live={!isEnd(data.status)} />
        )}
      </Card>
    </>
  );
}

/** The entries of the execution and of its child executions, in the order of their times. */
function TreeLog({ id, live }: { id: string; live: boolean }) {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const cursor = useRef("");
  useStream(async (signal) => {
    const request = { executionId: id, includeChildren: true, follow: live, lines: maxLines };
    for await (const { log } of api.executions.tailLogs({ ...request, after: cursor.current }, { signal })) {
      if (log === undefined) continue;
      cursor.current = log.cursor;
      setLines((known) => [...known, log].slice(-maxLines));
    }
    return !live;
  }, `${id} ${live}`);
  return <LogView lines={lines} live={live} names />;
}

/** The only attempt of a failed execution is its error. */
function showsAttempts({ attempts, status }: Execution): boolean {
  return attempts.length > (status === "failed" ? 1 : 0);
}

export function isEnd(status: string): boolean {
  return status !== "queued" && status !== "running";
}

function Summary({ execution }: { execution: Execution }) {
  const { executionId, parentExecutionId, replayOf, dueAt, deploymentId } = execution;
  const link = (id: string) => (
    <a href={href(["executions", id])}>
      <Id value={id} />
    </a>
  );
  return (
    <Card title="Summary">
      <Facts
        entries={[
          ["Status", <Status key="s" value={execution.status} />],
          [
            "Execution",
            <span key="e">
              <code>{executionId}</code> <Copy text={executionId} label="the execution id" />
            </span>,
          ],
          ["Kind", execution.kind],
          ["Trigger", execution.trigger],
          ["Environment", execution.environment],
          [
            "Deployment",
            <a key="d" href={href(["deployments", deploymentId])}>
              <Id value={deploymentId} />
            </a>,
          ],
          ["Created", <FullTime key="c" value={execution.createdAt} />],
          ["Started", <FullTime key="st" value={execution.startedAt} />],
          ["Finished", <FullTime key="f" value={execution.finishedAt} />],
          ["Took", tookOf(execution) || "–"],
          ["Attempt", String(execution.attempt)],
          ...(dueAt === undefined ? [] : [["Next attempt", <Time key="n" value={dueAt} />] as const]),
          ...(parentExecutionId === "" ? [] : [["Parent", link(parentExecutionId)] as const]),
          ...(replayOf === "" ? [] : [["Replay of", link(replayOf)] as const]),
        ]}
      />
    </Card>
  );
}

function ErrorCard({ execution: { error, deploymentId } }: { execution: Execution }) {
  if (error === undefined) return null;
  return (
    <Card title="Error">
      <p class="error-message">
        <strong>{error.name}</strong>: {error.message}
      </p>
      <SourceLines deploymentId={deploymentId} stack={error.stack} />
      {error.stack === "" ? null : (
        <Scroll label="Stack">
          <pre>{withoutMessage(error)}</pre>
        </Scroll>
      )}
    </Card>
  );
}

/** The stack after its first lines, which repeat the name and the message. */
function withoutMessage({ name, message, stack }: NonNullable<Execution["error"]>): string {
  const start = `${name}: ${message}\n`;
  return stack.startsWith(start) ? stack.slice(start.length) : stack;
}

function Attempts({ execution }: { execution: Execution }) {
  return (
    <Card title="Failed attempts">
      <ol class="attempts">
        {execution.attempts.map(({ attempt, error, finishedAt, retryAt }) => (
          <li key={attempt} value={attempt}>
            <strong>{error?.name}</strong>: {error?.message}{" "}
            <span class="dim">
              (<FullTime value={finishedAt} />
              {retryAt === undefined ? (
                ""
              ) : (
                <>
                  , retry at <FullTime value={retryAt} />
                </>
              )}
              )
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Mapping({ execution }: { execution: Execution }) {
  return (
    <Card title="Field mapping">
      <Scroll label="Field mapping">
        <table>
          <thead>
            <tr>
              <th scope="col">Path</th>
              <th scope="col">Parameter</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {execution.mapping.map(({ path, parameter, found, type, because }) => (
              <tr key={`${path}\n${parameter}`}>
                <td>
                  <code>{path}</code>
                </td>
                <td>
                  <code>{parameter}</code>
                </td>
                <td>{found ? type : <span class="status failed">{because || "not found"}</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}

function Actions({ execution, onChange }: { execution: Execution; onChange(): Promise<void> }) {
  const { executionId, name, status } = execution;
  if (!allows("trigger")) return null;
  const replay = () =>
    act("The replay is queued.", async () => {
      const started = await api.executions.replayExecution({ executionId });
      go(["executions", started.executionId]);
    });
  return (
    <>
      {isEnd(status) ? null : (
        <ConfirmButton
          label="Cancel"
          dismiss="Keep running"
          kind="danger"
          question={`Cancel this execution of ${name}?`}
          detail="Its child executions are cancelled too."
          onConfirm={() =>
            act("The execution is being cancelled.", async () => {
              await api.executions.cancelExecution({ executionId });
              await onChange();
            })
          }
        />
      )}
      <a class="button" href={href(["run"], { replay: executionId })}>
        Replay with changes
      </a>
      <button type="button" class="primary" onClick={() => void replay()}>
        Replay
      </button>
    </>
  );
}
