/**
 * The address and the key of a running `svc dev`, in a file of the project. Commands in the folder of the project find the
 * server with it. The file is removed when the server ends, and ignored when its process has ended without removing it.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject } from "../../project/json.ts";
import { projectFolder } from "../project/folder.ts";

export interface DevServer {
  /** With the environment. */
  base_url: string;
  api_key: string;
  pid: number;
}

/** The folder of `svc dev` in a project. */
export function devFolder(root: string): string {
  return join(root, ".svc", "dev");
}

/**
 * The server that runs for the project of the working directory; null when there is none. After a crash, its process ID may
 * belong to another process, so that the server need not answer.
 */
export function runningDevServer(root: string = projectFolder()): DevServer | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(fileOf(root), "utf8"));
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const { base_url, api_key, pid } = value;
  if (typeof base_url !== "string" || typeof api_key !== "string" || typeof pid !== "number") return null;
  // Containers give the same IDs at each start.
  return pid !== process.pid && isAlive(pid) ? { base_url, api_key, pid } : null;
}

/** @returns a function that removes the file again */
export function publishDevServer(root: string, server: DevServer): () => void {
  const file = fileOf(root);
  const temporary = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, `${JSON.stringify(server, null, 2)}\n`, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
  return () => rmSync(file, { force: true });
}

function fileOf(root: string): string {
  return join(devFolder(root), "connection.json");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
