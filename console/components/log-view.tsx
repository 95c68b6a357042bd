/** Log entries, live. */
import { useEffect, useRef } from "preact/hooks";
import type { LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf, utcTime } from "../lib/format.ts";
import { href } from "../lib/router.ts";

export function LogView({
  lines,
  live,
  names = false,
}: {
  lines: readonly LogLine[];
  live: boolean;
  /** Whether to show the name of the execution of each entry, with a link. */
  names?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // After each new entry.
  useEffect(() => {
    if (atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines.length]);
  return (
    <div
      class="log"
      ref={box}
      role="log"
      aria-label="Log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollTop + clientHeight > scrollHeight - 20;
      }}
    >
      {lines.length === 0 ? <p class="dim">{live ? "No entries yet." : "No entries."}</p> : null}
      {lines.map((line) => (
        <Line key={line.cursor} line={line} named={names} />
      ))}
    </div>
  );
}

function Line({ line, named }: { line: LogLine; named: boolean }) {
  const date = dateOf(line.time);
  return (
    <div class={`line ${line.level}`}>
      <time title={date === null ? "" : utcTime(date)}>{date === null ? "" : timeOfDay(date)}</time>
      <span class="level">{line.level}</span>
      <span class="text">
        {named ? (
          <>
            <a href={href(["executions", line.executionId])}>{line.name}</a>{" "}
          </>
        ) : null}
        {line.message}
        {line.fields === undefined ? null : <span class="fields"> {JSON.stringify(line.fields)}</span>}
      </span>
    </div>
  );
}

function timeOfDay(date: Date): string {
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) =>
    String(value).padStart(2, "0"),
  );
  return `${hours}:${minutes}:${seconds}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
