/** One delivery: what was received, what became of it and why. */
import { Card, Facts, Failure, FullTime, Heading, Id, Json, Loading, Status } from "../components/basics.tsx";
import { RedeliverButton } from "../components/redeliver.tsx";
import { api } from "../lib/api.ts";
import { bytesText } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { act } from "../lib/notices.ts";
import { go, href } from "../lib/router.ts";
import { allows } from "../lib/session.ts";

export function DeliveryPage({ id }: { id: string }) {
  const { data, error, loading, reload } = useLoad(
    (signal) => api.webhooks.getDelivery({ deliveryId: id }, { signal }),
    id,
  );
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  const redeliver = (current: boolean) =>
    act("The delivery runs again.", async () => {
      const { executionId } = await api.webhooks.redeliverWebhook({ deliveryId: id, current });
      go(["executions", executionId]);
    });
  return (
    <>
      <Heading title={`Delivery to ${data.name}/${data.slug}`}>
        <a
          class="button"
          href={href(["webhooks", "mapping"], {
            ...{ environment: data.environment, name: data.name, slug: data.slug },
            delivery: data.deliveryId,
          })}
        >
          Try a mapping
        </a>
        {allows("trigger") ? (
          <RedeliverButton
            label="Redeliver"
            question="Run this payload again?"
            selected={[data]}
            disabled={data.payload === undefined && !data.payloadOmitted}
            onConfirm={redeliver}
          />
        ) : null}
      </Heading>
      {data.reason === "" ? null : (
        <Card title="Reason">
          <p class="error-message">{data.reason}</p>
        </Card>
      )}
      <Card title="Summary">
        <Facts
          entries={[
            ["Outcome", <Status key="o" value={data.outcome} />],
            ["HTTP status", String(data.httpStatus)],
            ["Received", <FullTime key="r" value={data.receivedAt} />],
            ["Environment", data.environment],
            ["Size", bytesText(data.sizeBytes)],
            [
              "Execution",
              data.executionId === "" ? (
                "–"
              ) : (
                <a key="e" href={href(["executions", data.executionId])}>
                  <Id value={data.executionId} />
                </a>
              ),
            ],
            ["Delivery", <code key="d">{data.deliveryId}</code>],
          ]}
        />
      </Card>
      <div class="columns">
        <Card title="Headers">
          <Json value={data.headers} label="headers" />
        </Card>
        <Card title="Payload">
          {data.payload === undefined ? (
            <p class="dim">Not kept. With keep_rejected: true in the project file, it is kept.</p>
          ) : (
            <Json value={data.payload} label="payload" />
          )}
        </Card>
      </div>
    </>
  );
}
