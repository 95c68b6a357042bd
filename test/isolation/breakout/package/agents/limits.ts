/** Uses up what a runner has, until it fails or is ended. */
import { closeSync, openSync, writeFileSync } from "node:fs";

const kept: unknown[] = [];
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

const endless: Record<string, (n: number) => unknown> = {
  memory: () => kept.push(Buffer.alloc(4_000_000, 1)),
  files: (n) => closeSync(openSync(`file-${n}`, "w")),
  disk: (n) => writeFileSync(`file-${n}`, Buffer.alloc(1_000_000)),
  abort: () => process.abort(),
  paths: () => {
    throw new Error(`${process.execPath} ${import.meta.filename} ${process.cwd()}`);
  },
};

export default async function exhaust({ resource }: { resource: string }): Promise<unknown> {
  for (let n = 0; resource !== "nothing"; n++) {
    endless[resource]?.(n);
    if (n % 500 === 0) await turn();
  }
  return process.pid;
}
