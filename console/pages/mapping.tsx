/**
 * Tries a field mapping on a payload. The browser evaluates it with the code of the service, so that nothing is sent or
 * stored.
 */
import { useState } from "preact/hooks";
import type { TraceEntry } from "../../project/mapping.ts";
import type { RequestSources } from "../../project/mapping-source.ts";
import type { Delivery } from "../../proto/svc/v1/webhook_pb.ts";
import { Card, Failure, Heading, Json, Loading, Status } from "../components/basics.tsx";
import { Scroll } from "../components/scroll.tsx";
import { api } from "../lib/api.ts";
import { dateOf, localTime, shortId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { type Entry, inputOf, payloadOf, resultsOf } from "../lib/mapping-trial.ts";
import { setQuery } from "../lib/router.ts";
import { defaultsOf } from "../lib/webhook-defaults.ts";

/** Deliveries whose payload is looked for. */
const maxTried = 10;

interface Start {
  deliveries: readonly Delivery[];
  /** Empty when no delivery has a payload. */
  deliveryId: string;
  /** The delivery of the address has no payload. */
  isWithout: boolean;
  payload: string;
  sources: RequestSources;
  entries: readonly Entry[];
}

/** The mapping of a webhook, and the newest payload that it has received or that of the address. */
async function load(query: URLSearchParams, signal: AbortSignal): Promise<Start> {
  const [environment = "", name = "", slug = "", wanted = ""] = [
    "environment",
    "name",
    "slug",
    "delivery",
  ].map((key) => query.get(key) ?? "");
  const [{ agents, workflows }, { deployments }, page] = await Promise.all([
    api.webhooks.listWebhooks({ environment, pageSize: 1000 }, { signal }),
    api.deployments.listDeployments({ status: "active", pageSize: 1000 }, { signal }),
    api.webhooks.listDeliveries({ name, slug, environment, pageSize: 50 }, { signal }),
  ]);
  const agent = agents.find((one) => one.name === name);
  const target = agent ?? workflows.find((one) => one.name === name);
  const webhook = target?.webhooks.find((one) => one.slug === slug);
  const defaults = defaultsOf(deployments, { environment: environment || "production", name, slug });
  const get = (deliveryId: string) => api.webhooks.getDelivery({ deliveryId }, { signal });
  const deliveries = page.deliveries.filter(({ outcome }) => outcome !== "handshake");
  let delivery = wanted === "" ? undefined : await get(wanted);
  if (wanted === "") {
    for (const { deliveryId } of deliveries.slice(0, maxTried)) {
      delivery = await get(deliveryId);
      if (delivery.payload !== undefined) break;
      delivery = undefined;
    }
  }
  const isListed = deliveries.some(({ deliveryId }) => deliveryId === delivery?.deliveryId);
  return {
    deliveries: delivery === undefined || isListed ? deliveries : [delivery, ...deliveries],
    deliveryId: delivery?.deliveryId ?? "",
    isWithout: delivery !== undefined && delivery.payload === undefined,
    payload: JSON.stringify(delivery?.payload ?? {}, null, 2),
    sources: {
      headers: delivery?.headers ?? {},
      query: {},
      path: `/${agent === undefined ? "workflow" : "agent"}/${name}/${slug}`,
    },
    entries: Object.entries(webhook?.fieldMapping ?? {}).map(([path, parameter]) => ({
      ...{ path, parameter },
      fallback: defaults.get(path),
    })),
  };
}

function textOf({ deliveryId, outcome, receivedAt }: Delivery): string {
  const date = dateOf(receivedAt);
  return [date === null ? "" : localTime(date), outcome, shortId(deliveryId)].join(" · ");
}

export function MappingPage({ query }: { query: URLSearchParams }) {
  const { data, error, loading, reload } = useLoad((signal) => load(query, signal), query.toString());
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  return (
    <>
      <Heading title={`Mapping of ${query.get("name")}/${query.get("slug")}`} />
      {data.deliveries.length === 0 ? null : (
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Payload of
            <select
              value={data.deliveryId}
              onChange={(event) => setQuery({ delivery: event.currentTarget.value })}
            >
              {data.deliveryId === "" ? <option value="">no delivery has a stored payload</option> : null}
              {data.deliveries.map((delivery) => (
                <option key={delivery.deliveryId} value={delivery.deliveryId}>
                  {textOf(delivery)}
                </option>
              ))}
            </select>
          </label>
          {data.isWithout ? <p class="dim">The payload of this delivery was not kept.</p> : null}
        </form>
      )}
      <Trial key={query.toString()} start={data} />
    </>
  );
}

function Trial({ start }: { start: Start }) {
  const { sources } = start;
  const [text, setText] = useState(start.payload);
  const [entries, setEntries] = useState<readonly Entry[]>(start.entries);
  const payload = payloadOf(text);
  const change = (index: number, values: Partial<Entry>) =>
    setEntries(entries.map((entry, at) => (at === index ? { ...entry, ...values } : entry)));
  const results = resultsOf(entries, payload, sources);
  return (
    <>
      <div class="columns">
        <Card title="Payload">
          <textarea
            aria-label="Payload, a JSON object"
            rows={16}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {typeof payload === "string" ? (
            <p class="failure" role="alert">
              {payload}
            </p>
          ) : null}
        </Card>
        <Card title="Input">
          {typeof payload === "string" ? (
            <p class="dim">None without a payload.</p>
          ) : (
            <Json value={inputOf(entries, results, payload, sources)} label="input" />
          )}
        </Card>
      </div>
      <Card title="Field mapping">
        <Scroll label="Field mapping">
          <table class="mapping">
            <thead>
              <tr>
                <th scope="col">Path</th>
                <th scope="col">Parameter</th>
                <th scope="col">Result</th>
                <th scope="col">
                  <span class="hidden">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, index) => (
                <tr key={index}>
                  <td data-title="Path">
                    <input
                      aria-label={`Path ${index + 1}`}
                      value={entry.path}
                      onInput={(event) => change(index, { path: event.currentTarget.value })}
                    />
                  </td>
                  <td data-title="Parameter">
                    <input
                      aria-label={`Parameter ${index + 1}`}
                      value={entry.parameter}
                      onInput={(event) => change(index, { parameter: event.currentTarget.value })}
                    />
                  </td>
                  <td>
                    <Result result={results[index] ?? ""} fallback={entry.fallback} />
                  </td>
                  <td>
                    <button
                      type="button"
                      class="small"
                      aria-label={`Remove entry ${index + 1}`}
                      onClick={() => setEntries(entries.filter((_, at) => at !== index))}
                    >
                      Remove
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
        <div class="spaced">
          <button type="button" onClick={() => setEntries([...entries, { path: "", parameter: "" }])}>
            Add an entry
          </button>
        </div>
        <p class="dim">
          The webhook does not change: write the entries to <code>field_mapping</code> in{" "}
          <code>svc-project.yaml</code>. Query parameters are not tried here; without entries, the payload is
          the input.
        </p>
      </Card>
    </>
  );
}

function Result({ result, fallback }: { result: TraceEntry | string; fallback: Entry["fallback"] }) {
  if (result === "") return null;
  if (typeof result === "string") return <span class="error-message">{result}</span>;
  if (!result.found) return <span class="error-message">{result.because ?? "not found"}</span>;
  return (
    <>
      <Status value={result.type ?? ""} />
      {result.reading === "default" ? (
        <>
          {" "}
          default <code>{JSON.stringify(fallback)}</code>
        </>
      ) : null}
    </>
  );
}
