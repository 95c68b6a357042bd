/** JSON columns. What is in them was written by this program, so a broken one is a broken store. */
export function parseStored<T>(text: string): T {
  return JSON.parse(text) as T;
}
