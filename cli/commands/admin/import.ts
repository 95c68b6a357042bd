import { copyStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { dataFolder, json } from "../../app/options.ts";
import { printCopy } from "../../views/copied-store.ts";

export default command({
  details:
    "Copies the store in the database of SVC_DATABASE_URL to a data folder without a store and compares every row afterwards. No server may use the database.",
  args: { ...dataFolder, ...json },
  examples: [["svc admin import --data .svc", "Move a store from PostgreSQL to a data folder"]],
  async run(values) {
    printCopy(await copyStore("import", values.data), values);
  },
}) as Command;
