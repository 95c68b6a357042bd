/** Short messages about the result of an action, for people and for screen readers. */
import { messageOf } from "./api.ts";
import { signal } from "./signal.ts";

export interface Notice {
  id: number;
  kind: "done" | "failed";
  text: string;
}

export const notices = signal<readonly Notice[]>([]);
let last = 0;

export function notify(kind: Notice["kind"], text: string): void {
  const notice = { id: ++last, kind, text };
  notices.set([...notices.get(), notice]);
  setTimeout(() => dismiss(notice.id), kind === "done" ? 5_000 : 15_000);
}

export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}

/** Runs an action and tells how it ended. */
export async function act(done: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    notify("done", done);
    return true;
  } catch (error) {
    notify("failed", messageOf(error));
    return false;
  }
}
