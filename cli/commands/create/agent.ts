import { type Command, command } from "../../app/command.ts";

const agent: Command = command({
  about: "Writes agents/<name>.ts and adds it to svc-project.yaml, in which all else stays as it is.",
  args: {
    name: { type: "positional", description: "Its name: letters, digits, _ and -" },
  },
  async run(values) {
    const { create } = await import("../../project/create.ts");
    await create(process.cwd(), "agent", values.name);
  },
});

export default agent;
