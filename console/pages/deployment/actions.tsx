/** Rolls back to a deployment and promotes it. */
import { useState } from "preact/hooks";
import type { Deployment } from "../../../proto/svc/v1/deployment_pb.ts";
import { ConfirmButton } from "../../components/confirm.tsx";
import { api } from "../../lib/api.ts";
import { act } from "../../lib/notices.ts";
import { go } from "../../lib/router.ts";
import { allows } from "../../lib/session.ts";

export function Actions({ deployment, onChange }: { deployment: Deployment; onChange(): Promise<void> }) {
  const { deploymentId, status, version, environment } = deployment;
  const [target, setTarget] = useState("");
  if (!allows("deploy")) return null;
  const isUsable = status === "active" || status === "superseded";
  return (
    <>
      {status === "superseded" ? (
        <ConfirmButton
          label="Roll back"
          question={`Roll ${environment} back to ${version}?`}
          detail="Code, webhooks and schedules switch at once. Running executions finish on their own deployment."
          onConfirm={() =>
            act(`${environment} runs ${version} again.`, async () => {
              await api.deployments.rollbackDeployment({ deploymentId });
              await onChange();
            })
          }
        />
      ) : null}
      {isUsable ? (
        <form class="promote" onSubmit={(event) => event.preventDefault()}>
          <input
            aria-label="Environment to promote to"
            placeholder="environment"
            value={target}
            onInput={(event) => setTarget(event.currentTarget.value.trim())}
          />
          <ConfirmButton
            label="Promote"
            disabled={target === "" || target === environment}
            question={`Deploy ${version} to ${target}?`}
            onConfirm={() =>
              act(`${target} runs ${version}.`, async () => {
                const promoted = await api.deployments.createDeployment({
                  sourceDeploymentId: deploymentId,
                  environment: target,
                });
                go(["deployments", promoted.deploymentId]);
              })
            }
          />
        </form>
      ) : null}
    </>
  );
}
