/** The state of `console` between calls, for one attempt or for the code outside of attempts. */
export class ConsoleState {
  indentation = "";
  readonly counts: Map<string, number> = new Map();
  readonly startedAtMs: Map<string, number> = new Map();
}

/** Labels of counters and timers per attempt. Further labels are ignored. */
const maxLabels = 1000;

export function remember(labels: Map<string, number>, label: string, value: number): void {
  if (labels.size < maxLabels || labels.has(label)) labels.set(label, value);
}
