import { script } from "@bomb.sh/tab";
import { print } from "../terminal/output.ts";
import { bashScript } from "./bash.ts";
import { powershellScript } from "./powershell.ts";
import { zshScript } from "./zsh.ts";

/**
 * Prints the completion script of a shell. The scripts of @bomb.sh/tab for bash, zsh and PowerShell evaluate the words
 * of the command line, so svc has its own. The one for fish passes them as arguments.
 */
export function printCompletionScript(shell: "bash" | "zsh" | "fish" | "powershell"): void {
  if (shell === "fish") script(shell, "svc", "svc");
  else print({ bash: bashScript, zsh: zshScript, powershell: powershellScript }[shell].trimEnd());
}
