import { withStore } from "../../api/admin-store.ts";
import { type Command, command } from "../../app/command.ts";
import { dataFolder, json } from "../../app/options.ts";
import { print, printJson } from "../../terminal/output.ts";
import { statisticsJson, statisticsText } from "../../views/statistics.ts";

export default command({
  details:
    "Prints the size of the store and of each table, executions by status, and packages. Reads the whole store, while the server runs or not.",
  args: { ...dataFolder, ...json },
  async run(values) {
    const statistics = await withStore(values.data, (admin) => admin.statistics());
    if (values.json) printJson(statisticsJson(statistics));
    else print(statisticsText(statistics));
  },
}) as Command;
