/** What `svc push` does before it talks to the server, as a process of its own; run by the benchmark. */
import { renameSync } from "node:fs";
import process from "node:process";
import { packFiles } from "../../project/pack.ts";
import { prepareProject } from "../../project/prepare.ts";

const [root = "", output = ""] = process.argv.slice(2);
const { definition, files, problems } = await prepareProject(root);
if (definition === null) throw new Error(`The project has problems: ${JSON.stringify(problems)}`);
const packed = await packFiles(files);
renameSync(packed.path, output);
