/** The state of an execution and what it belongs to. */
import type { Execution } from "../../../proto/svc/v1/execution_pb.ts";
import { Card, Copy, Facts, FullTime, Id, Status, Time } from "../../components/basics.tsx";
import { href } from "../../lib/router.ts";
import { tookOf } from "../executions.tsx";

export function Summary({ execution }: { execution: Execution }) {
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
