/** Whether an execution with this status has ended. */
export function isEnd(status: string): boolean {
  return status !== "queued" && status !== "running";
}
