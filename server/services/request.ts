/** Validation that all services share: environment, page, names and closed sets of words. */
import type { HandlerContext } from "@connectrpc/connect";
import { isName, nameRule } from "../../project/names.ts";
import { invalid } from "../errors.ts";

/** Set by the dispatcher from the prefix `/env/<environment>`; never accepted from a client. */
export const environmentHeader = "svc-environment";

export const defaultEnvironment = "production";

/** The environment of a request: the one that it names, else that of its base URL, else `production`. */
export function environmentOf(named: string, context: HandlerContext): string {
  return checkedName("environment", named || fromUrl(context) || defaultEnvironment);
}

/** Like `environmentOf`, for lists: empty, which selects all environments, without a prefix in the base URL. */
export function environmentFilter(named: string, context: HandlerContext): string {
  const environment = named || fromUrl(context);
  return environment === "" ? "" : checkedName("environment", environment);
}

function fromUrl(context: HandlerContext): string {
  return context.requestHeader.get(environmentHeader) ?? "";
}

/** @throws ConnectError `invalid_argument` when the text is not a valid name. */
function checkedName(what: string, text: string): string {
  if (!isName(text)) throw invalid(`Cannot use ${what} '${text.slice(0, 80)}': it must be ${nameRule}.`);
  return text;
}

/** @throws ConnectError `invalid_argument` when the word is not in the set. The empty word selects all. */
export function checkedWord(what: string, word: string, words: readonly string[]): string {
  if (word !== "" && !words.includes(word)) {
    throw invalid(`Cannot use ${what} '${word.slice(0, 80)}': it must be one of ${words.join(", ")}.`);
  }
  return word;
}

export const kinds = ["agent", "workflow"] as const;
export const executionStatuses = ["queued", "running", "succeeded", "failed", "cancelled"] as const;
export const deploymentStatuses = ["pending", "active", "superseded", "failed", "deleted"] as const;

export interface Page {
  limit: number;
  /** The last id of the previous page; empty for the first page. */
  before: string;
}

const defaultPageSize = 50;
const maxPageSize = 1000;

/** @throws ConnectError `invalid_argument` when the size exceeds 1000 or the token is malformed. */
export function pageOf(request: { pageSize: number; pageToken: string }): Page {
  if (request.pageSize > maxPageSize) {
    throw invalid(`Cannot return ${request.pageSize} entries: page_size must be from 1 to ${maxPageSize}.`);
  }
  const before = request.pageToken === "" ? "" : Buffer.from(request.pageToken, "base64url").toString();
  if (before !== "" && !/^[a-z]{3}_[0-9a-z]{26}$/.test(before)) {
    throw invalid("Cannot use page_token: it must be the next_page_token of the previous page.");
  }
  return { limit: request.pageSize || defaultPageSize, before };
}

/** Takes rows read with a limit of one more than the page, and returns the page and the token of the next one. */
export function paged<T>(
  rows: T[],
  page: Page,
  idOf: (row: T) => string,
): { rows: T[]; nextPageToken: string } {
  if (rows.length <= page.limit) return { rows, nextPageToken: "" };
  const kept = rows.slice(0, page.limit);
  const last = kept.at(-1);
  return {
    rows: kept,
    nextPageToken: last === undefined ? "" : Buffer.from(idOf(last)).toString("base64url"),
  };
}
