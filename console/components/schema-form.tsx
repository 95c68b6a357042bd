/** A form for an input with a simple schema. It edits the same value as the JSON field of the page. */
import { useState } from "preact/hooks";
import { type FormField, typedValue } from "../lib/schema-form.ts";

export function SchemaForm({
  fields,
  value,
  onChange,
}: {
  fields: readonly FormField[];
  value: Readonly<Record<string, unknown>>;
  onChange(value: Record<string, unknown>): void;
}) {
  const change = (field: FormField, text: string, checked: boolean) => {
    const next = { ...value };
    const typed = typedValue(field, text, checked);
    if (typed === undefined) delete next[field.name];
    else next[field.name] = typed;
    onChange(next);
  };
  return (
    <div class="fields-form">
      {fields.map((field) => (
        <Field key={field.name} field={field} value={value[field.name]} onChange={change} />
      ))}
    </div>
  );
}

function Field({
  field,
  value,
  onChange,
}: {
  field: FormField;
  value: unknown;
  onChange(field: FormField, text: string, checked: boolean): void;
}) {
  const { name, title, description, required, kind, options } = field;
  const id = `field-${name}`;
  const text = value === undefined || value === null ? "" : String(value);
  const common = {
    id,
    required: required && kind !== "boolean",
    ...(description !== "" && { "aria-describedby": `${id}-hint` }),
  };
  return (
    <div class="field">
      <label for={id}>
        {title}
        {kind === "json" ? <span class="dim"> (JSON)</span> : ""}
        {required ? "" : <span class="dim"> (optional)</span>}
      </label>
      {kind === "choice" ? (
        <select
          {...common}
          value={text}
          onChange={(event) => onChange(field, event.currentTarget.value, false)}
        >
          <option value="" />
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : kind === "boolean" ? (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(field, "", event.currentTarget.checked)}
        />
      ) : kind === "json" ? (
        <JsonText {...common} value={value} onValue={(next) => onChange(field, next, false)} />
      ) : (
        <NumberOrText {...common} kind={kind} value={text} onValue={(next) => onChange(field, next, false)} />
      )}
      {description === "" ? null : (
        <p id={`${id}-hint`} class="dim">
          {description}
        </p>
      )}
    </div>
  );
}

/** Keeps what a person types while it is not JSON, and refuses to submit it. */
function JsonText({
  value,
  onValue,
  ...rest
}: {
  id: string;
  required: boolean;
  value: unknown;
  onValue(value: string): void;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const change = (field: HTMLTextAreaElement) => {
    const text = field.value;
    const problem = text.trim() === "" ? "" : problemOf(text);
    field.setCustomValidity(problem);
    setDraft(text);
    if (problem === "") onValue(text);
  };
  return (
    <textarea
      {...rest}
      rows={3}
      spellcheck={false}
      value={draft ?? (value === undefined ? "" : JSON.stringify(value, null, 2))}
      onInput={(event) => change(event.currentTarget)}
      onBlur={(event) => event.currentTarget.checkValidity() && setDraft(null)}
    />
  );
}

function problemOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : ""}`;
  }
}

function NumberOrText({
  kind,
  onValue,
  ...rest
}: {
  kind: "text" | "number" | "integer";
  id: string;
  required: boolean;
  value: string;
  onValue(value: string): void;
}) {
  if (kind === "text") {
    return <input {...rest} onInput={(event) => onValue(event.currentTarget.value)} />;
  }
  const step = kind === "integer" ? "1" : "any";
  return (
    <input {...rest} type="number" step={step} onInput={(event) => onValue(event.currentTarget.value)} />
  );
}
