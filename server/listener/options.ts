/** Limits of connections that are not configurable, for both versions of HTTP. */
export const maxHeaderBytes: number = 16 * 1024;
export const headersMs = 15_000;
/** A connection that sends nothing, or does not finish its TLS handshake or HTTP/2 preface, closes after this time. */
export const firstByteMs = 15_000;
