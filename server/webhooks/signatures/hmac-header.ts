/** The common form of most senders: a header carries the HMAC of the body, perhaps together with a time or the URL. */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../../project/json.ts";
import { someHmacMatches } from "./digest.ts";
import { header, idOf, refuseTime } from "./request.ts";
import type { Scheme, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing } from "./scheme.ts";

export interface HmacHeader {
  /** Name of the header, in lower case. */
  name: string;
  /** Text before the signature. Default empty. */
  prefix?: string;
  /** Default `sha256`. */
  algorithm?: "sha1" | "sha256";
  encoding: "hex" | "base64";
  /** Header with the signed time in seconds of Unix time, in lower case. Default none. */
  timeHeader?: string;
  /** The signed text before the body. Default empty. */
  before?(request: SignedRequest, seconds: string): string;
  /** The signed text after the body. Default empty. */
  after?(request: SignedRequest, seconds: string): string;
  /** Checks a request whose signature matches. */
  confirm?(request: SignedRequest): Verification;
  /** The sender's delivery id, from headers that are not signed. Default none. */
  headerId?(headers: IncomingHttpHeaders): unknown;
  /** The sender's delivery id, from the signed body. Default none. */
  payloadId?(payload: JsonObject): unknown;
}

const digestBytes = { sha1: 20, sha256: 32 };

export function hmacHeader(options: HmacHeader): Scheme {
  const { name, prefix = "", algorithm = "sha256", encoding, timeHeader } = options;
  const characters =
    encoding === "hex" ? digestBytes[algorithm] * 2 : Math.ceil(digestBytes[algorithm] / 3) * 4;
  const alphabet = encoding === "hex" ? /^[0-9a-f]+$/ : /^[A-Za-z0-9+/]+=?$/;
  const form = `${prefix === "" ? "" : `'${prefix}' and `}${characters} characters of ${encoding}`;
  return {
    signsDeliveryId: options.payloadId !== undefined,
    verify(request) {
      const text = header(request.headers, name);
      if (text === null) return missing(name);
      const candidate = text.slice(prefix.length);
      if (!text.startsWith(prefix) || candidate.length !== characters || !alphabet.test(candidate)) {
        return malformed(name, form);
      }
      const seconds = timeHeader === undefined ? "" : header(request.headers, timeHeader);
      if (timeHeader !== undefined) {
        const untimely = refuseTime(seconds, timeHeader, request.nowSeconds);
        if (untimely !== null) return untimely;
      }
      const hmac = {
        algorithm,
        encoding,
        keys: request.secrets,
        keyEncoding: "utf8",
        before: options.before?.(request, seconds ?? "") ?? "",
        body: request.body,
        ...(options.after !== undefined && { after: options.after(request, seconds ?? "") }),
      } as const;
      if (!someHmacMatches(hmac, [candidate])) return mismatch;
      return options.confirm?.(request) ?? accepted;
    },
    deliveryId: (headers, payload) => idOf(options.headerId?.(headers) ?? options.payloadId?.(payload)),
  };
}
