/** Redelivers selected deliveries one after the other, oldest first, with the result of each. */
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

/** @param selected - newest first */
export function Redeliver({ selected, onDone }: { selected: readonly Delivery[]; onDone(): void }) {
  const [results, setResults] = useState<readonly Result[]>([]);
  const [total, setTotal] = useState(0);
  const isRunning = results.length < total;
  const failed = results.filter(({ error }) => error !== "").length;
  const redeliver = async (current: boolean) => {
    setTotal(selected.length);
    setResults([]);
    for (const { deliveryId } of selected.toReversed()) {
      const result = await api.webhooks.redeliverWebhook({ deliveryId, current }).then(
        ({ executionId }) => ({ deliveryId, executionId, error: "" }),
        (error: unknown) => ({ deliveryId, executionId: "", error: messageOf(error) }),
      );
      setResults((known) => [...known, result]);
    }
    onDone();
  };
  return (
    <div class="redelivery">
      <RedeliverButton
        label={selected.length === 0 ? "Redeliver" : `Redeliver ${selected.length}`}
        question={`Run ${countText(selected.length, "payload")} again?`}
        selected={selected}
        disabled={selected.length === 0 || isRunning}
        onConfirm={redeliver}
      />
      {total === 0 ? null : (
        <Card title="Redelivered">
          <progress aria-label="Redelivered" max={total} value={results.length} />{" "}
          <span role="status">
            {results.length - failed} of {total} redelivered{failed === 0 ? "" : `, ${failed} failed`}
          </span>
          <ul class="plain">
            {results.map(({ deliveryId, executionId, error }) => (
              <li key={deliveryId}>
                {/* Messages of the service may name the delivery. */}
                {error.includes(deliveryId) ? null : (
                  <>
                    <Id value={deliveryId} />{" "}
                  </>
                )}
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

/** A button with a dialog that asks whose mapping and code to run. */
export function RedeliverButton({
  label,
  question,
  selected,
  disabled,
  onConfirm,
}: {
  label: string;
  question: string;
  selected: readonly Delivery[];
  disabled: boolean;
  onConfirm(current: boolean): unknown;
}) {
  const [current, setCurrent] = useState(false);
  const start = selected.length === 1 ? "It starts a new execution." : "Each starts a new execution.";
  const hasRejected = selected.some(({ outcome }) => outcome === "rejected");
  const check = "Rejected requests are not checked again: redeliver only those whose sender you trust.";
  return (
    <ConfirmButton
      label={label}
      question={question}
      detail={hasRejected ? `${start} ${check}` : start}
      disabled={disabled}
      onConfirm={() => onConfirm(current)}
    >
      <label class="choice">
        Mapping and code of
        <select
          value={current ? "active" : "delivery"}
          onChange={(event) => setCurrent(event.currentTarget.value === "active")}
        >
          <option value="delivery">the deployment of the delivery</option>
          <option value="active">the active deployment</option>
        </select>
      </label>
    </ConfirmButton>
  );
}
