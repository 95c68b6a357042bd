/** Downloads a package as a command would: the arguments are the path and the URL. */
import { downloadFile } from "../../cli/api/download.ts";
import { handleSignals } from "../../cli/app/signals.ts";

handleSignals();
const [path = "", url = ""] = process.argv.slice(2);
await downloadFile(path, { url, sizeBytes: 100_000, digest: "0".repeat(64) });
