/** The execution and its child executions on one time axis. */

import type { Execution } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf, durationText } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import { Status } from "./basics.tsx";
import { Scroll } from "./scroll.tsx";

interface Row {
  execution: Execution;
  depth: number;
}

export function Timeline({ root }: { root: Execution }) {
  const rows = [...flatten(root)];
  const start = Math.min(...rows.map(({ execution }) => msOf(execution.createdAt) ?? Date.now()));
  const end = Math.max(...rows.map(({ execution }) => msOf(execution.finishedAt) ?? Date.now()), start + 1);
  const percent = (ms: number) => `${((ms - start) / (end - start)) * 100}%`;
  const shown = rows.length - 1;
  return (
    <Scroll label="Timeline of child executions">
      <table class="timeline">
        <thead>
          <tr>
            <th scope="col">Execution</th>
            <th scope="col">Status</th>
            <th scope="col" class="numeric">
              Took
            </th>
            <th scope="col" class="bar-column">
              <span class="axis">
                {[0, 0.25, 0.5, 0.75, 1].map((part) => (
                  <span key={part}>{part === 0 ? "0" : durationText((end - start) * part)}</span>
                ))}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ execution, depth }) => {
            const created = msOf(execution.createdAt) ?? start;
            const started = msOf(execution.startedAt) ?? msOf(execution.finishedAt) ?? end;
            const finished = msOf(execution.finishedAt) ?? end;
            return (
              <tr key={execution.executionId}>
                <td>
                  <a
                    href={href(["executions", execution.executionId])}
                    style={{ paddingLeft: `${depth * 1.2}em` }}
                  >
                    {execution.name}
                  </a>
                  {failedAttempts(execution)}
                </td>
                <td>
                  <Status value={execution.status} />
                </td>
                <td class="numeric">{durationText(finished - started)}</td>
                <td class="bar-column">
                  <div class="bar" aria-hidden="true">
                    <span
                      class="wait"
                      style={{ left: percent(created), width: percent(start + started - created) }}
                    />
                    <span
                      class={`work ${execution.status}`}
                      style={{ left: percent(started), width: percent(start + finished - started) }}
                    />
                    {execution.attempts.map((attempt) => (
                      <span
                        key={attempt.attempt}
                        class="work failed"
                        style={{
                          left: percent(msOf(attempt.startedAt) ?? started),
                          width: percent(
                            start +
                              (msOf(attempt.finishedAt) ?? started) -
                              (msOf(attempt.startedAt) ?? started),
                          ),
                        }}
                      />
                    ))}
                  </div>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {root.descendants.length > shown ? null : <Omitted root={root} />}
    </Scroll>
  );
}

/** The attempts before the last one, with their errors on hover. */
function failedAttempts({ attempts, attempt }: Execution) {
  if (attempt < 2) return null;
  const errors = attempts.map(({ error }) => `${error?.name}: ${error?.message}`);
  return (
    <span class="dim" title={errors.join("\n")}>
      {" "}
      attempt {attempt}, {attempts.length} failed
    </span>
  );
}

function Omitted({ root }: { root: Execution }) {
  const all = [root, ...root.descendants].reduce((sum, { childCount }) => sum + childCount, 0);
  const omitted = all - root.descendants.length;
  return omitted > 0 ? <p class="dim">{omitted} more child executions are not shown.</p> : null;
}

function* flatten(root: Execution): Generator<Row> {
  const depths = new Map([[root.executionId, 0]]);
  yield { execution: root, depth: 0 };
  for (const execution of root.descendants) {
    const depth = (depths.get(execution.parentExecutionId) ?? 0) + 1;
    depths.set(execution.executionId, depth);
    yield { execution, depth };
  }
}

function msOf(time: Parameters<typeof dateOf>[0]): number | undefined {
  return dateOf(time)?.getTime();
}
