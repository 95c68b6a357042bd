/** Small parts of pages. */

import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isMissing, messageOf } from "../lib/api.ts";
import { dateOf, localTime, relativeTime, shortId, utcTime } from "../lib/format.ts";
import { notify } from "../lib/notices.ts";
import { Scroll } from "./scroll.tsx";

export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="heading">
      <h1>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  );
}

export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  const id = `card-${title.toLowerCase().replaceAll(/\W+/g, "-")}`;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A state in words and in color. */
export function Status({ value }: { value: string }) {
  return <span class={`status ${value}`}>{value}</span>;
}

/** Relative time; the local and the UTC time on hover. */
export function Time({ value }: { value: Timestamp | undefined }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  const date = dateOf(value);
  if (date === null) return <span class="dim">–</span>;
  return (
    <time dateTime={date.toISOString()} title={`${localTime(date)} local\n${utcTime(date)}`}>
      {relativeTime(date)}
    </time>
  );
}

/** Local time in full; UTC on hover. */
export function FullTime({ value }: { value: Timestamp | undefined }) {
  const date = dateOf(value);
  if (date === null) return <span class="dim">–</span>;
  return (
    <time dateTime={date.toISOString()} title={utcTime(date)}>
      {localTime(date)}
    </time>
  );
}

export function Id({ value }: { value: string }) {
  return (
    <code class="id" title={value}>
      {shortId(value)}
    </code>
  );
}

export function Copy({ text, label }: { text: string; label: string }) {
  return (
    <button
      type="button"
      class="small"
      aria-label={`Copy ${label}`}
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => notify("done", `Copied ${label}.`),
          () => notify("failed", "The browser does not allow copying here."),
        )
      }
    >
      Copy
    </button>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => unknown }) {
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      {onRetry === undefined || isMissing(error) ? null : (
        <button type="button" onClick={() => void onRetry()}>
          Try again
        </button>
      )}
    </div>
  );
}

/** What to do when there is nothing to show. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}

/** A value as indented JSON. Text content only, so that markup in it stays text. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2) ?? "";
  return (
    <div class="json">
      <Copy text={text} label={label} />
      <Scroll label={label}>
        <pre>{text}</pre>
      </Scroll>
    </div>
  );
}

/** Names and values. */
export function Facts({ entries }: { entries: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
