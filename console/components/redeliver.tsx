/** Redelivers selected deliveries one after the other, with the result of each. */
import { useState } from "preact/hooks";
import type { Delivery } from "../../proto/svc/v1/webhook_pb.ts";
import { api, messageOf } from "../lib/api.ts";
import { countText } from "../lib/format.ts";
import { href } from "../lib/router.ts";
import { Card, Id } from "./basics.tsx";
import { ConfirmButton } from "./confirm.tsx";

interface Result {
  deliveryId: string;
  executionId: string;
  /** Empty when an execution was started. */
  error: string;
}

export function Redeliver({ selected, onDone }: { selected: readonly Delivery[]; onDone(): void }) {
  const [results, setResults] = useState<readonly Result[]>([]);
  const [total, setTotal] = useState(0);
  const isRunning = results.length < total;
  const redeliver = async () => {
    setTotal(selected.length);
    setResults([]);
    for (const { deliveryId } of selected) {
      const result = await api.webhooks.redeliverWebhook({ deliveryId }).then(
        ({ executionId }) => ({ deliveryId, executionId, error: "" }),
        (error: unknown) => ({ deliveryId, executionId: "", error: messageOf(error) }),
      );
      setResults((known) => [...known, result]);
    }
    onDone();
  };
  return (
    <div class="redelivery">
      <ConfirmButton
        label={selected.length === 0 ? "Redeliver" : `Redeliver ${selected.length}`}
        question={`Run ${countText(selected.length, "payload")} again?`}
        detail="Each starts a new execution. Signatures of rejected requests are not verified again: you vouch for them."
        disabled={selected.length === 0 || isRunning}
        onConfirm={redeliver}
      />
      {total === 0 ? null : (
        <Card title="Redelivered">
          <progress aria-label="Redelivered" max={total} value={results.length} />{" "}
          <span role="status">
            {results.length} of {total}
          </span>
          <ul class="plain">
            {results.map(({ deliveryId, executionId, error }) => (
              <li key={deliveryId}>
                <Id value={deliveryId} />{" "}
                {error === "" ? (
                  <a href={href(["executions", executionId])}>
                    <Id value={executionId} />
                  </a>
                ) : (
                  <span class="error-message">{error}</span>
                )}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}
