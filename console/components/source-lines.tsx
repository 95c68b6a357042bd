/** The lines of the deployed code around the first stack frame of an error. */
import { api } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";
import { Scroll } from "./scroll.tsx";

interface Place {
  path: string;
  line: number;
}

/** `at step (agents/triage.ts:3:9)` or `at agents/triage.ts:3:9`. */
const frame = /^\s+at (?:.*\()?([^\s()]+):(\d+):\d+\)?$/m;

function placeOf(stack: string): Place | null {
  const [, path, line] = frame.exec(stack) ?? [];
  return path === undefined ? null : { path, line: Number(line) };
}

export function SourceLines({ deploymentId, stack }: { deploymentId: string; stack: string }) {
  const place = placeOf(stack);
  return place === null ? null : <Lines deploymentId={deploymentId} place={place} />;
}

/** Nothing for code that the package does not have, such as a bundled npm package. */
function Lines({ deploymentId, place: { path, line } }: { deploymentId: string; place: Place }) {
  const { data } = useLoad(
    (signal) => api.deployments.getSourceLines({ deploymentId, path, line }, { signal }),
    `${deploymentId} ${path}:${line}`,
  );
  if (data === undefined || data.sourceLines.length === 0) return null;
  return (
    <div class="source">
      <p class="dim">
        <code>
          {path}:{line}
        </code>
      </p>
      <Scroll label="Source of the error">
        <pre>
          {data.sourceLines.map((text, index) => {
            const number = data.firstLine + index;
            return (
              <div key={number} class={number === line ? "failing" : ""}>
                <span class="number">
                  {number === line ? ">" : " "} {String(number).padStart(4)}{" "}
                </span>
                {text}
              </div>
            );
          })}
        </pre>
      </Scroll>
    </div>
  );
}
