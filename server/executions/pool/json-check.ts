/** Levels of nesting of an output, unless the limits set it. */
export const defaultJsonDepth = 64;

/**
 * Whether a text is JSON (RFC 8259) of at most `maxDepth` levels of arrays and objects.
 *
 * The depth is checked first: `JSON.parse` takes 140 ms for a megabyte of nested brackets.
 */
export function isJson(text: string, maxDepth: number): boolean {
  if (isDeeperThan(text, maxDepth)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The result for a text that is not JSON is meaningless. */
function isDeeperThan(json: string, levels: number): boolean {
  if (json.length < 2 * (levels + 1)) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > levels) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
