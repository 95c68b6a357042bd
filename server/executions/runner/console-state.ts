/** What `console` remembers between calls: of an execution, or of the code that belongs to none. */
export class ConsoleState {
  indentation = "";
  readonly counts: Map<string, number> = new Map();
  readonly startedAtMs: Map<string, number> = new Map();
}

/** Labels of counters and timers that one execution may have; further ones are forgotten. */
const maxLabels = 1000;

export function remember(labels: Map<string, number>, label: string, value: number): void {
  if (labels.size < maxLabels || labels.has(label)) labels.set(label, value);
}
