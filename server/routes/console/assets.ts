/** The files of the console. The package has them bundled; a checkout bundles the sources at the first request. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export interface Asset {
  type: string;
  body: Uint8Array;
  etag: string;
}

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

let loading: Promise<ReadonlyMap<string, Asset>> | null = null;

/** @param name - empty for the page; undefined is returned for a file that the console does not have */
export async function assetNamed(name: string): Promise<Asset | undefined> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return (await loading).get(name === "" ? "index.html" : name);
}

async function load(): Promise<ReadonlyMap<string, Asset>> {
  const files = await readBundle();
  return new Map(
    [...files].map(([name, body]) => {
      const digest = createHash("sha256").update(body).digest("base64url");
      return [
        name,
        { type: types[name] ?? "application/octet-stream", body, etag: `"${digest.slice(0, 22)}"` },
      ];
    }),
  );
}

async function readBundle(): Promise<Map<string, Uint8Array>> {
  // Compiled, this file is in dist/server/routes/console, and the bundle in dist/console.
  const folder = new URL("../../../console/", import.meta.url);
  if (existsSync(fileURLToPath(new URL("main.tsx", folder)))) {
    const { bundleConsole } = await import("./bundle.ts");
    return await bundleConsole();
  }
  const names = Object.keys(types);
  const bodies = await Promise.all(names.map((name) => readFile(new URL(name, folder))));
  return new Map(names.map((name, index) => [name, bodies[index] ?? new Uint8Array()]));
}
