/** A server must accept the absolute form of a request target (RFC 9112, section 3.2.2). */
export function originForm(url: string): string {
  if (url.startsWith("/") || !/^https?:\/\//i.test(url)) return url;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : url.slice(start);
}
