/** Cancels and replays an execution. */
import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { ConfirmButton } from "../../components/confirm.tsx";
import { api } from "../../lib/api.ts";
import { isEnd } from "../../lib/execution.ts";
import { act } from "../../lib/notices.ts";
import { go, href } from "../../lib/router.ts";
import { allows } from "../../lib/session.ts";

export function Actions({ execution, onChange }: { execution: Execution; onChange(): Promise<void> }) {
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
