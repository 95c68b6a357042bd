/** The error of an execution, and those of its earlier attempts. */
import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { Card, FullTime } from "../../components/basics.tsx";
import { Scroll } from "../../components/scroll.tsx";
import { SourceLines } from "../../components/source-lines.tsx";

export function ErrorCard({ execution: { error, deploymentId } }: { execution: Execution }) {
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

/** The only attempt of a failed execution is its error. */
export function Attempts({ execution: { attempts, status } }: { execution: Execution }) {
  if (attempts.length <= (status === "failed" ? 1 : 0)) return null;
  return (
    <Card title="Failed attempts">
      <ol class="attempts">
        {attempts.map(({ attempt, error, finishedAt, retryAt }) => (
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
