/** Webhook URLs, and the deliveries to them. */
import { useState } from "preact/hooks";
import type { Delivery, Webhook } from "../../proto/svc/v1/webhook_pb.ts";
import { Card, Copy, Empty, Failure, Heading, Id, Loading, Status, Time } from "../components/basics.tsx";
import { Redeliver } from "../components/redeliver.tsx";
import { type Column, More, Table } from "../components/table.tsx";
import { api, environments } from "../lib/api.ts";
import { useList } from "../lib/list.ts";
import { useLive } from "../lib/live.ts";
import { useLoad } from "../lib/load.ts";
import { href, setQuery } from "../lib/router.ts";
import { allows } from "../lib/session.ts";
import { defaultsOf } from "../lib/webhook-defaults.ts";

interface Row extends Webhook {
  /** By path. */
  defaults: ReturnType<typeof defaultsOf>;
  target: string;
  environment: string;
}

const columns: readonly Column<Row>[] = [
  { title: "Target", cell: ({ target }) => target },
  { title: "Slug", cell: ({ slug }) => slug },
  { title: "Environment", cell: ({ environment }) => environment, wide: true },
  {
    title: "URL",
    cell: ({ url }) => (
      <span class="url">
        <code title={url}>{url}</code> <Copy text={url} label="the webhook URL" />
      </span>
    ),
  },
  {
    title: "Signature",
    cell: ({ signatureScheme }) => signatureScheme || <span class="status cancelled">none</span>,
    wide: true,
  },
  { title: "Rate limit", cell: rateLimit, wide: true },
  {
    title: "Mapping",
    cell: ({ fieldMapping, defaults, environment, target, slug }) => (
      <>
        {Object.entries(fieldMapping).map(([path, parameter]) => (
          <div key={path} class="mapped">
            <code>{path}</code> → <code>{parameter}</code>
            {defaults.has(path) ? (
              <>
                {" "}
                default <code>{JSON.stringify(defaults.get(path))}</code>
              </>
            ) : null}
          </div>
        ))}
        <a href={href(["webhooks", "mapping"], { environment, name: target, slug })}>Try a mapping</a>
      </>
    ),
    wide: true,
  },
];

const deliveryColumns: readonly Column<Delivery>[] = [
  {
    title: "Delivery",
    cell: ({ deliveryId }) => (
      <a href={href(["webhooks", deliveryId])}>
        <Id value={deliveryId} />
      </a>
    ),
  },
  { title: "Outcome", cell: ({ outcome }) => <Status value={outcome} /> },
  { title: "HTTP", cell: ({ httpStatus }) => String(httpStatus), numeric: true },
  { title: "Webhook", cell: ({ name, slug }) => `${name}/${slug}` },
  { title: "Environment", cell: ({ environment }) => environment, wide: true },
  { title: "Reason", cell: ({ reason }) => reason, wide: true },
  { title: "Received", cell: ({ receivedAt }) => <Time value={receivedAt} /> },
];

/** As of the load of the page, in the process that answered. */
function rateLimit({ rateLimit }: Row) {
  if (rateLimit === undefined) return null;
  const { requestsPerSecond, burst, remaining } = rateLimit;
  return (
    <span title="Requests that the webhook takes at once after a pause, and in the long run">
      {remaining === 0 ? <span class="status failed">used up</span> : `${remaining} of ${burst} left`},{" "}
      {requestsPerSecond} per second
    </span>
  );
}

/** A handshake never has one. */
function hasPayload({ outcome }: Delivery): boolean {
  return outcome !== "handshake";
}

/** Of all environments of the address. */
async function listWebhooks(signal: AbortSignal): Promise<Row[]> {
  const [names, { deployments }] = await Promise.all([
    environments(signal),
    api.deployments.listDeployments({ status: "active", pageSize: 1000 }, { signal }),
  ]);
  const lists = await Promise.all(
    names.map(async (environment) => {
      const list = await api.webhooks.listWebhooks({ environment, pageSize: 1000 }, { signal });
      return [...list.agents, ...list.workflows].flatMap(({ name, webhooks }) =>
        webhooks.map((webhook) => ({
          ...webhook,
          ...{ target: name, environment },
          defaults: defaultsOf(deployments, { environment, name, slug: webhook.slug }),
        })),
      );
    }),
  );
  return lists.flat();
}

export function WebhooksPage({ query }: { query: URLSearchParams }) {
  const { data, error, loading, reload } = useLoad(listWebhooks, "webhooks");
  return (
    <>
      <Heading title="Webhooks" />
      {error !== undefined ? <Failure error={error} onRetry={reload} /> : null}
      {loading ? <Loading /> : null}
      {data === undefined ? null : data.length === 0 ? (
        <Empty title="No webhooks are deployed.">
          <p>
            <code>svc webhook add</code> adds one to a project.
          </p>
        </Empty>
      ) : (
        <Table label="Webhooks" columns={columns} rows={data} keyOf={({ url }) => url} />
      )}
      <Deliveries query={query} />
    </>
  );
}

function Deliveries({ query }: { query: URLSearchParams }) {
  const outcome = query.get("outcome") ?? "";
  const list = useList(async (pageToken, signal) => {
    const page = await api.webhooks.listDeliveries({ outcome, pageSize: 20, pageToken }, { signal });
    return { rows: page.deliveries, token: page.nextPageToken };
  }, outcome);
  useLive(list.refresh);
  const { rows, error, refresh } = list;
  const [selection, setSelection] = useState<{ outcome: string; ids: readonly string[] }>({
    outcome,
    ids: [],
  });
  const ids = selection.outcome === outcome ? selection.ids : [];
  const select = (next: readonly string[]) => setSelection({ outcome, ids: next });
  const isSelected = ({ deliveryId }: Delivery) => ids.includes(deliveryId);
  const toggle = ({ deliveryId }: Delivery) =>
    select(ids.includes(deliveryId) ? ids.filter((one) => one !== deliveryId) : [...ids, deliveryId]);
  const selectable = (rows ?? []).filter(hasPayload);
  // A live list drops rows: only what is shown is redelivered.
  const selected = selectable.filter(isSelected);
  const isAll = selected.length === selectable.length;
  const boxes: Column<Delivery> = {
    title: "Select",
    cell: (delivery) =>
      hasPayload(delivery) ? (
        <input
          type="checkbox"
          aria-label={`Select ${delivery.deliveryId}`}
          checked={isSelected(delivery)}
          onChange={() => toggle(delivery)}
        />
      ) : null,
  };
  const mayRedeliver = allows("trigger");
  return (
    <Card title="Deliveries">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Outcome
          <select value={outcome} onChange={(event) => setQuery({ outcome: event.currentTarget.value })}>
            <option value="">any</option>
            {["accepted", "rejected", "ignored", "handshake"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {mayRedeliver && selectable.length > 0 ? (
          <button
            type="button"
            onClick={() => select(isAll ? [] : selectable.map(({ deliveryId }) => deliveryId))}
          >
            {isAll ? "Select none" : "Select all shown"}
          </button>
        ) : null}
      </form>
      {mayRedeliver && rows !== undefined && rows.length > 0 ? (
        <Redeliver selected={selected} onDone={() => select([])} />
      ) : null}
      {error !== undefined ? <Failure error={error} onRetry={refresh} /> : null}
      {rows === undefined ? null : rows.length > 0 ? (
        <Table
          label="Deliveries"
          columns={mayRedeliver ? [...deliveryColumns, boxes] : deliveryColumns}
          rows={rows}
          keyOf={({ deliveryId }) => deliveryId}
        />
      ) : list.token !== "" ? null : (
        <Empty title="No deliveries.">
          <p>Requests to the webhook URLs appear here, the rejected ones with the reason.</p>
        </Empty>
      )}
      <More list={list} />
    </Card>
  );
}
