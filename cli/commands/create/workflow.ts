import { type Command, command } from "../../app/command.ts";
import { projectFolder } from "../../project/folder.ts";

export default command({
  details:
    "Writes workflows/<name>.ts and adds an entry to svc-project.yaml. The rest of the file does not change.",
  args: {
    name: { type: "positional", description: "Name of the workflow: letters, digits, _ and -" },
  },
  async run({ name }) {
    const { createTarget } = await import("../../project/create-target.ts");
    await createTarget(projectFolder(), "workflow", name);
  },
}) as Command;
