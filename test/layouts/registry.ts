/** An npm registry on loopback that serves the packed package and the packages in `node_modules`, for installs without a network. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { root } from "../support/runtimes.ts";

interface Manifest {
  name: string;
  version: string;
  optionalDependencies?: Record<string, string>;
}

export interface Registry extends AsyncDisposable {
  /** Its address, with a slash at the end. */
  url: string;
}

/** @param tarballs - paths of further packages by name; `package.json` of each is read from the repository's root */
export async function startRegistry(tarballs: Readonly<Record<string, string>>): Promise<Registry> {
  const packed = new Map<string, Promise<Buffer>>();
  const server = createServer(async (request, response) => {
    const [name = "", file] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("/-/");
    const folder = name in tarballs ? root : join(root, "node_modules", name);
    if (!existsSync(join(folder, "package.json"))) return void response.writeHead(404).end("{}");
    if (file === undefined) {
      const document = JSON.stringify(packument(readManifest(folder), `http://${request.headers.host}/`));
      return void response.setHeader("content-type", "application/json").end(document);
    }
    const tarball = tarballs[name];
    if (!packed.has(name)) {
      packed.set(name, tarball === undefined ? pack(folder) : Promise.resolve(readFileSync(tarball)));
    }
    response.setHeader("content-type", "application/octet-stream").end(await packed.get(name));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function packument(manifest: Manifest, url: string): object {
  const { name, version, optionalDependencies = {} } = manifest;
  // Of packages for other platforms, none is installed.
  const present = Object.entries(optionalDependencies).filter(([other]) =>
    existsSync(join(root, "node_modules", other)),
  );
  const dist = { tarball: `${url}${name}/-/${name.split("/").at(-1)}-${version}.tgz` };
  const entry = { ...manifest, optionalDependencies: Object.fromEntries(present), dist };
  return { name, "dist-tags": { latest: version }, versions: { [version]: entry } };
}

/** The tar archive of an installed package, as a registry would serve it. */
async function pack(folder: string): Promise<Buffer> {
  const args = ["-czf", "-", "--exclude=./node_modules", "--transform=s,^\\.,package,", "-C", folder, "."];
  return buffer(spawn("tar", args, { stdio: ["ignore", "pipe", "inherit"] }).stdout);
}
