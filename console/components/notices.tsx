import { dismiss, notices } from "../lib/notices.ts";

/** The notices, in a region that screen readers announce. */
export function Notices() {
  const all = notices.use();
  return (
    <div class="notices" role="status" aria-live="polite">
      {all.map(({ id, kind, text }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
