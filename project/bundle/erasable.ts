/**
 * Finds TypeScript that cannot run after its types were removed: enums, namespaces, decorators, accessors and parameter
 * properties. Node has a function for this, but the package must be the same on every runtime. A namespace that holds
 * only types is found too, which does no harm.
 */

/** Most files have none of these words. */
const candidate = /\b(?:enum|namespace|module|accessor|constructor)\b|@[\w$(]/;

const declarations: readonly RegExp[] = [
  /(?<![.\w$])(?<!\bdeclare\s+(?:const\s+)?)enum\s+[\w$]+\s*\{/,
  /(?<![.\w$])(?<!\bdeclare\s+)(?:namespace|module)\s+[\w$.]+\s*\{/,
  /(?<![.\w$])accessor\s+[\w$#[]/,
  /(?<![\w$)\].])@[\w$(]/,
];
const parameterProperty = /(?:^|,)\s*(?:(?:public|private|protected|readonly|override)\s+)+[\w${[]/;

export function isErasable(code: string): boolean {
  if (!candidate.test(code)) return true;
  const bare = withoutText(code);
  if (declarations.some((pattern) => pattern.test(bare))) return false;
  for (const { index, 0: start } of bare.matchAll(/(?<![.\w$])constructor\s*\(/g)) {
    if (parameterProperty.test(parametersAt(bare, index + start.length))) return false;
  }
  return true;
}

/** The text up to the parenthesis that closes a list. */
function parametersAt(code: string, start: number): string {
  let depth = 1;
  for (let at = start; at < code.length; at++) {
    if (code[at] === "(") depth++;
    else if (code[at] === ")" && --depth === 0) return code.slice(start, at);
  }
  return code.slice(start);
}

/** Comments, strings, the text of templates, and regular expressions where no value precedes the slash. */
const text =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|(?<=(?:^|[=(,:;!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|in|of))\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

/** Code within templates is removed with them: it declares nothing that a module needs at its top. */
function withoutText(code: string): string {
  return code.replaceAll(text, (match) => (match.startsWith("/") && match[1] !== "/" ? " " : '""'));
}
