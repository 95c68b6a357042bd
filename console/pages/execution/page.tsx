/** One execution, live: state, values, attempts, child executions and log. */
import { useRef, useState } from "preact/hooks";
import type { Execution, LogLine } from "../../../proto/svc/v1/execution_pb.ts";
import { Card, Failure, Heading, Json, Loading } from "../../components/basics.tsx";
import { LogView } from "../../components/log-view.tsx";
import { Timeline } from "../../components/timeline.tsx";
import { api } from "../../lib/api.ts";
import { isEnd } from "../../lib/execution.ts";
import { useLoad, useStream } from "../../lib/load.ts";
import { href } from "../../lib/router.ts";
import { toJson } from "../../lib/value.ts";
import { Actions } from "./actions.tsx";
import { Attempts, ErrorCard } from "./failures.tsx";
import { Mapping } from "./mapping.tsx";
import { Summary } from "./summary.tsx";
import { maxLines, TreeLog } from "./tree-log.tsx";

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
      <ErrorCard execution={data} />
      <Attempts execution={data} />
      {data.childCount === 0 ? null : (
        <Card title="Child executions">
          <Timeline root={data} />
        </Card>
      )}
      <Values execution={data} />
      <Mapping execution={data} />
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

function Values({ execution }: { execution: Execution }) {
  const { status, input, inputOmitted, output, outputOmitted } = execution;
  return (
    <div class="columns">
      <Card title="Input">
        {inputOmitted ? (
          <p class="dim">Too large to show here.</p>
        ) : (
          <Json value={input ?? {}} label="input" />
        )}
      </Card>
      <Card title="Output">
        {outputOmitted ? (
          <p class="dim">Too large to show here.</p>
        ) : status === "succeeded" ? (
          <Json value={toJson(output)} label="output" />
        ) : (
          <p class="dim">{isEnd(status) ? "None." : "Not yet."}</p>
        )}
      </Card>
    </div>
  );
}
