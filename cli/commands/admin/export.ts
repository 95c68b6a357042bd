import { copyStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { dataFolder, json } from "../../app/options.ts";
import { printCopy } from "../../views/copied-store.ts";

export default command({
  details:
    "Copies the store of a data folder to the empty database of SVC_DATABASE_URL and compares every row afterwards. No server may use either. Packages and the master key are not part of the store: keep SVC_MASTER_KEY, and copy the folder `objects` to the object storage.",
  args: { ...dataFolder, ...json },
  examples: [["svc admin export --data .svc", "Move an embedded store to PostgreSQL"]],
  async run(values) {
    printCopy(await copyStore("export", values.data), values);
  },
}) as Command;
