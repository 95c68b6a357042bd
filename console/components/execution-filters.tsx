/** The filters of the list of executions. They are part of the address. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import { isExecutionId } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { go, setQuery } from "../lib/router.ts";
import { listTargets } from "../lib/targets.ts";

export const filterNames = ["status", "name", "trigger", "text", "hours", "from", "to"] as const;
export type ExecutionFilter = Readonly<Record<(typeof filterNames)[number], string>>;

const statuses = ["queued", "running", "succeeded", "failed", "cancelled"];
const triggers = [
  ["", "any"],
  ["webhook", "webhook"],
  ["schedule", "schedule"],
  ["run", "run (API, console)"],
  ["replay", "replay"],
  ["child", "child"],
  ["failure", "failure (alerts)"],
] as const;
const periods = [
  ["", "any time"],
  ["1", "last hour"],
  ["24", "last 24 h"],
  ["168", "last 7 d"],
  ["range", "from … to …"],
] as const;

export function filterOf(query: URLSearchParams): ExecutionFilter {
  return Object.fromEntries(
    filterNames.map((name) => {
      const value = query.get(name) ?? "";
      return [name, isKnown(name, value) ? value : ""];
    }),
  ) as ExecutionFilter;
}

/** Addresses are typed and shared: a value that no field can show does not filter. */
function isKnown(name: keyof ExecutionFilter, value: string): boolean {
  if (name === "status") return statuses.includes(value);
  if (name === "trigger") return triggers.some(([one]) => one === value);
  if (name === "hours") return periods.some(([one]) => one === value);
  return (name !== "from" && name !== "to") || !Number.isNaN(Date.parse(value));
}

/** Whether nothing can be in the range, which the service refuses. */
export function isReversed({ hours, from, to }: ExecutionFilter): boolean {
  return hours === "range" && Date.parse(from) >= Date.parse(to);
}

/** The fields of a request. */
export function requestOf({ status, name, trigger, text, hours, from, to }: ExecutionFilter): object {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const since = hours === "range" ? start : Date.now() - Number(hours) * 3_600_000;
  return {
    status,
    name,
    trigger,
    contains: text,
    ...(hours !== "" && !Number.isNaN(since) && { since: timestampFromMs(since) }),
    ...(hours === "range" && !Number.isNaN(end) && { until: timestampFromMs(end) }),
  };
}

export function ExecutionFilters({ filter }: { filter: ExecutionFilter }) {
  const { data: targets = [] } = useLoad(listTargets, "targets");
  const names = [...new Set(targets.map(({ name }) => name))];
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Choice label="Status" name="status" filter={filter} options={statuses.map((one) => [one, one])} any />
      <Words
        label="Name"
        value={filter.name}
        list="target-names"
        placeholder="agent or workflow"
        onValue={(name) => setQuery({ name })}
      />
      <datalist id="target-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Choice label="Trigger" name="trigger" filter={filter} options={triggers} />
      <Choice label="Created" name="hours" filter={filter} options={periods} />
      <Words
        label="Text"
        value={filter.text}
        placeholder="id, error or input; case matters"
        onValue={(text) => (isExecutionId(text) ? go(["executions", text]) : setQuery({ text }))}
      />
      {filter.hours === "range" ? (
        <div class="range">
          <Moment label="From" name="from" filter={filter} />
          <Moment label="To" name="to" filter={filter} />
          {isReversed(filter) ? <p class="error-message">From must be earlier than To.</p> : null}
        </div>
      ) : null}
    </form>
  );
}

interface FieldProps {
  label: string;
  name: keyof ExecutionFilter;
  filter: ExecutionFilter;
}

function Choice({
  label,
  name,
  filter,
  options,
  any = false,
}: FieldProps & { options: readonly (readonly [string, string])[]; any?: boolean }) {
  return (
    <label>
      {label}
      <select value={filter[name]} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {any ? <option value="">any</option> : null}
        {options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Takes effect with Enter, not with each character: a search may read many executions. */
function Words({
  label,
  value,
  list,
  placeholder,
  onValue,
}: {
  label: string;
  value: string;
  list?: string;
  placeholder: string;
  onValue(value: string): void;
}) {
  // A live list renders the field again while a person types.
  const [draft, setDraft] = useState<string | null>(null);
  const change = (text: string) => {
    setDraft(null);
    onValue(text);
  };
  return (
    <label>
      {label}
      <input
        type="search"
        value={draft ?? value}
        list={list}
        maxLength={200}
        placeholder={placeholder}
        onChange={(event) => change(event.currentTarget.value.trim())}
        onInput={({ currentTarget: { value } }) => (value === "" ? change("") : setDraft(value))}
      />
    </label>
  );
}

/** In the zone of the browser. */
function Moment({ label, name, filter }: FieldProps) {
  return (
    <label>
      {label}
      <input
        type="datetime-local"
        value={filter[name]}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      />
    </label>
  );
}
