/** Members of the POSIX character classes in the C locale. */
const classes: Record<string, (code: number) => boolean> = {
  alnum: (code) => isLetter(code) || isDigit(code),
  alpha: isLetter,
  blank: (code) => code === 32 || code === 9,
  cntrl: (code) => code < 32 || code === 127,
  digit: isDigit,
  graph: (code) => code > 32 && code < 127,
  lower: isLower,
  print: (code) => code >= 32 && code < 127,
  punct: (code) => code > 32 && code < 127 && !isLetter(code) && !isDigit(code),
  space: (code) => code === 32 || (code >= 9 && code <= 13),
  upper: isUpper,
  xdigit: (code) => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102),
};

/**
 * The regular expression of the set that begins with the `[` at `start`, and where it ends. Null when it is unfinished
 * or names an unknown class: git then matches nothing. In a path no set matches `/`.
 */
export function compileSet(
  glob: string,
  start: number,
  withoutSlash: boolean,
): { source: string; end: number } | null {
  let index = start + 1;
  const negated = glob[index] === "!" || glob[index] === "^";
  if (negated) index++;
  const members = new Array<boolean>(256).fill(false);
  let before = -1;
  // A `]` in the first place is a member.
  for (let first = true; first || glob[index] !== "]"; first = false) {
    const member = readMember(glob, index, before);
    if (member === null) return null;
    for (let code = 0; code < 256; code++) if (member.has(code)) members[code] = true;
    before = member.last;
    index = member.end;
  }
  let source = "";
  for (let code = 0; code < 256; code++) {
    if (members[code] === negated || (withoutSlash && code === 47)) continue;
    source += `\\x${code.toString(16).padStart(2, "0")}`;
  }
  return { source: source === "" ? "(?!)" : `[${source}]`, end: index + 1 };
}

interface Member {
  has(code: number): boolean;
  /** Where the next member begins. */
  end: number;
  /** Code that a `-` after this member would range from; -1 when none can. */
  last: number;
}

/** One character, range or class. `before` is the code of the character before, if a range can begin there. */
function readMember(glob: string, index: number, before: number): Member | null {
  const character = glob[index];
  if (character === undefined) return null;
  if (character === "\\") return single(glob, index + 1);
  const next = glob[index + 1];
  if (character === "-" && before > 0 && next !== undefined && next !== "]") {
    const last = single(glob, next === "\\" ? index + 2 : index + 1);
    return last && { has: (code) => code >= before && code <= last.last, end: last.end, last: -1 };
  }
  if (character !== "[" || next !== ":") return single(glob, index);
  const close = glob.indexOf("]", index + 2);
  if (close < 0) return null;
  // Without `:]` the bracket is a member like any other.
  if (close === index + 2 || glob[close - 1] !== ":") return single(glob, index);
  const name = glob.slice(index + 2, close - 1);
  const has = Object.hasOwn(classes, name) ? classes[name] : undefined;
  return has === undefined ? null : { has, end: close + 1, last: -1 };
}

function single(glob: string, index: number): Member | null {
  const code = glob.charCodeAt(index);
  return Number.isNaN(code) ? null : { has: (other) => other === code, end: index + 1, last: code };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isLetter(code: number): boolean {
  return isUpper(code) || isLower(code);
}
