/** Redacts the messages of log entries, which the runner has indented and cut to their limit. */

import type { Redactor } from "../secrets/redactor.ts";
import { cutNote } from "./runner/lines/cut-line.ts";

/** `console.group` indents each line: a value of several lines is found without it. */
export function redactMessage(redactor: Redactor, message: string): string {
  const note = cutNote.exec(message)?.[0] ?? "";
  const text = message.slice(0, message.length - note.length);
  const indentation = indentationOf(text);
  const plain = text.slice(indentation.length).replaceAll(`\n${indentation}`, "\n");
  const redacted = redactor.redact(plain);
  const cut = note === "" ? redacted : redactor.redactEnd(redacted);
  const whole = indentation + cut.replaceAll("\n", `\n${indentation}`) + note;
  // A value may itself begin with spaces.
  return indentation === "" ? whole : redactor.redact(whole);
}

/** The spaces before every line of a text of several lines. */
function indentationOf(text: string): string {
  if (!text.startsWith(" ") || !text.includes("\n")) return "";
  const widths = text.split("\n").map((line) => /^ */.exec(line)?.[0].length ?? 0);
  return " ".repeat(Math.min(...widths));
}
