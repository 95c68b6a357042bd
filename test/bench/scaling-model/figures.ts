/**
 * Means of three runs of `--measure --seconds 6` on a machine with two processors that other work used too. docs/scaling.md
 * has the date and the spread. Notifications that a process ignores were measured later, in three runs with
 * `measureNotifications`: they cost PostgreSQL as much as those that it delivers (0.038 ms against 0.037 ms, on a busier machine).
 */
import type { Figures } from "./model.ts";

export const figures: Figures = {
  accept: { apiMs: 0.103, databaseMs: 0.042 },
  execute: { workerMs: 0.082, runnerMs: 0.108, databaseMs: 0.081 },
  walBytes: 2_517,
  idleDatabaseMs: 0.7,
  notification: { databaseMs: 0.024, ignoredMs: 0.024, receiverMs: 0.0146 },
  rates: { acceptedPerSecond: 1_959, executedPerSecond: 2_263 },
};
