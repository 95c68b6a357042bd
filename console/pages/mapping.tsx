/**
 * Tries a field mapping on a payload. The browser evaluates it with the code of the service, so that nothing is sent or
 * stored.
 */
import { useState } from "preact/hooks";
import { isJsonObject, type JsonObject } from "../../project/json.ts";
import { compileMapping, type TraceEntry } from "../../project/mapping.ts";
import { Card, Failure, Heading, Json, Loading, Status } from "../components/basics.tsx";
import { Scroll } from "../components/scroll.tsx";
import { api } from "../lib/api.ts";
import { useLoad } from "../lib/load.ts";

interface Entry {
  path: string;
  parameter: string;
}

interface Start {
  payload: string;
  headers: Readonly<Record<string, string>>;
  entries: readonly Entry[];
}

/** The mapping of a webhook, and a payload that it has received. */
async function load(query: URLSearchParams, signal: AbortSignal): Promise<Start> {
  const [environment = "", name = "", slug = ""] = ["environment", "name", "slug"].map(
    (key) => query.get(key) ?? "",
  );
  const { agents, workflows } = await api.webhooks.listWebhooks({ environment, pageSize: 1000 }, { signal });
  const target = [...agents, ...workflows].find((one) => one.name === name);
  const webhook = target?.webhooks.find((one) => one.slug === slug);
  const { deliveries } = await api.webhooks.listDeliveries(
    { name, slug, environment, pageSize: 1 },
    { signal },
  );
  const deliveryId = query.get("delivery") ?? deliveries[0]?.deliveryId;
  const delivery =
    deliveryId === undefined ? undefined : await api.webhooks.getDelivery({ deliveryId }, { signal });
  return {
    payload: JSON.stringify(delivery?.payload ?? {}, null, 2),
    headers: delivery?.headers ?? {},
    entries: Object.entries(webhook?.fieldMapping ?? {}).map(([path, parameter]) => ({ path, parameter })),
  };
}

export function MappingPage({ query }: { query: URLSearchParams }) {
  const { data, error, loading, reload } = useLoad((signal) => load(query, signal), query.toString());
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (loading || data === undefined) return <Loading />;
  return (
    <>
      <Heading title={`Mapping of ${query.get("name")}/${query.get("slug")}`} />
      <Trial start={data} />
    </>
  );
}

function Trial({ start }: { start: Start }) {
  const [text, setText] = useState(start.payload);
  const [entries, setEntries] = useState<readonly Entry[]>(start.entries);
  const payload = parse(text);
  const change = (index: number, values: Partial<Entry>) =>
    setEntries(entries.map((entry, at) => (at === index ? { ...entry, ...values } : entry)));
  const results = entries.map((entry) => resultOf(entry, payload, start.headers));
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
          {payload === null ? (
            <p class="failure" role="alert">
              The payload is not a JSON object.
            </p>
          ) : null}
        </Card>
        <Card title="Input">
          <Json value={inputOf(entries, payload, start.headers)} label="input" />
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
                  <td>
                    <input
                      aria-label={`Path ${index + 1}`}
                      value={entry.path}
                      onInput={(event) => change(index, { path: event.currentTarget.value })}
                    />
                  </td>
                  <td>
                    <input
                      aria-label={`Parameter ${index + 1}`}
                      value={entry.parameter}
                      onInput={(event) => change(index, { parameter: event.currentTarget.value })}
                    />
                  </td>
                  <td>
                    <Result result={results[index] ?? ""} />
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
          <code>svc-project.yaml</code>. Query parameters and defaults are not tried here; without entries,
          the payload is the input.
        </p>
      </Card>
    </>
  );
}

function Result({ result }: { result: TraceEntry | string }) {
  if (result === "") return null;
  if (typeof result === "string") return <span class="error-message">{result}</span>;
  if (result.found) return <Status value={result.type ?? ""} />;
  return <span class="error-message">{result.because ?? "not found"}</span>;
}

function parse(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The result of an entry, or why it is invalid. */
function resultOf(entry: Entry, payload: JsonObject | null, headers: Start["headers"]): TraceEntry | string {
  if (payload === null || entry.path === "") return "";
  try {
    return compileMapping([entry]).trace(payload, { headers, query: {}, path: "" })[0] ?? "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Of the valid entries. */
function inputOf(entries: readonly Entry[], payload: JsonObject | null, headers: Start["headers"]): unknown {
  if (payload === null) return {};
  const valid = entries.filter(
    (entry) => entry.parameter !== "" && typeof resultOf(entry, payload, headers) !== "string",
  );
  if (entries.length > 0 && valid.length === 0) return {};
  return compileMapping(valid).apply(payload, { headers, query: {}, path: "" }).input;
}
