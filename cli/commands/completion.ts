import { type Command, command } from "../app/command.ts";
import { printCompletionScript } from "../completion/script.ts";

export default command({
  details:
    "The script completes commands, options, their values, and the agents and workflows of the project. It runs `svc`, which must be in the PATH.",
  args: {
    shell: {
      type: "positional",
      options: ["bash", "zsh", "fish", "powershell"],
      description: "Shell",
    },
  },
  examples: [
    ["svc completion bash > ~/.local/share/bash-completion/completions/svc", "Install for bash"],
    ["svc completion zsh > ~/.zfunc/_svc", "Install for zsh, with ~/.zfunc in fpath"],
    ["svc completion fish > ~/.config/fish/completions/svc.fish", "Install for fish"],
  ],
  async run({ shell }) {
    printCompletionScript(shell);
  },
}) as Command;
