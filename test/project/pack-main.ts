/** Packages the project in a folder and prints the digest. The tests run it on each runtime. */
import { createReadStream, rmSync } from "node:fs";
import process from "node:process";
import { collectProject } from "../../project/collect.ts";
import { packageLimits } from "../../project/limits.ts";
import { packFiles } from "../../project/pack.ts";
import { unpackPackage } from "../../project/unpack.ts";

const [root = "", unpackTo = ""] = process.argv.slice(2);
const packed = await packFiles(await collectProject(root));
// Unpacking is checked too: each runtime has its own gunzip.
const { files } = await unpackPackage(createReadStream(packed.path), unpackTo, packageLimits);
const runtime =
  process.versions.bun !== undefined ? "bun" : process.versions.deno !== undefined ? "deno" : "node";
console.log(JSON.stringify({ runtime, digest: packed.digest, sizeBytes: packed.sizeBytes, files }));
packed.remove();
rmSync(unpackTo, { recursive: true, force: true });
