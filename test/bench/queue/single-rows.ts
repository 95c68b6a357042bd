/** Loaded before a server (`--import`): every write of the server has one row, so that each request has a transaction of its own. */
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith("/server/store/batch.ts")) return loaded;
    const source = String(loaded.source);
    const single = source.replace("const maxRows = 500;", "const maxRows = 1;");
    if (single === source) throw new Error("server/store/batch.ts has no limit of rows.");
    return { ...loaded, source: single };
  },
});
