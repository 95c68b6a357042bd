/** Whether valid JSON text is nested deeper than so many levels. Reads the text once, and short text not at all. */
export function isDeeperThan(json: string, levels: number): boolean {
  if (json.length < 2 * (levels + 1)) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (quoted) {
      if (code === 92) at++;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 123 || code === 91) {
      if (++depth > levels) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}
