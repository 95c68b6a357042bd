/** The methods that the plugin sends. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Whether repeating a request may do more than sending it once (RFC 9110, 9.2.2). */
export function isUnsafe(method: string): boolean {
  return method === "POST" || method === "PATCH";
}
