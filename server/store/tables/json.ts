/** JSON columns. Only this program writes them, so that invalid JSON means a corrupt store. */
export function parseStored<T>(text: string): T {
  return JSON.parse(text) as T;
}
