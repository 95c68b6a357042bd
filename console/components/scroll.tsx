import type { ComponentChildren } from "preact";

/** A part that scrolls by itself. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus, a keyboard could not scroll it
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
