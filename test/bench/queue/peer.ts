/** Loads a peer from `test/bench/peers`, which has dependencies of its own. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const folder = new URL("../peers/", import.meta.url);

/** @throws Error that says how to install the peers */
export async function loadPeer<Module>(name: string): Promise<Module> {
  let path: string;
  try {
    path = createRequire(new URL("package.json", folder)).resolve(name);
  } catch (cause) {
    throw new Error(`Cannot load ${name}: run npm install --prefix test/bench/peers.`, { cause });
  }
  return (await import(pathToFileURL(path).href)) as Module;
}
