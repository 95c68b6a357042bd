/** What all services ask of a request: its environment, its page, the form of its names. */
import type { HandlerContext } from "@connectrpc/connect";
import { isName, nameRule } from "../../project/names.ts";
import { invalid } from "../errors.ts";

/** Set by the dispatcher from the base URL `/env/<environment>`, and never taken from outside. */
export const environmentHeader = "svc-environment";

export const defaultEnvironment = "production";

/** The environment that a request acts on: the one it names, else that of its base URL, else `production`. */
export function environmentOf(named: string, context: HandlerContext): string {
  return checkedName("environment", named || fromUrl(context) || defaultEnvironment);
}

/** As `environmentOf`, for lists: empty, which means all, under the plain base URL. */
export function environmentFilter(named: string, context: HandlerContext): string {
  const environment = named || fromUrl(context);
  return environment === "" ? "" : checkedName("environment", environment);
}

function fromUrl(context: HandlerContext): string {
  return context.requestHeader.get(environmentHeader) ?? "";
}

/** @throws ConnectError `invalid_argument` when the text is not of the form of a name. */
export function checkedName(what: string, text: string): string {
  if (!isName(text)) throw invalid(`Cannot use ${what} '${text.slice(0, 80)}': it must be ${nameRule}.`);
  return text;
}

/** @throws ConnectError `invalid_argument` when a word is none of a closed set. The empty word stands for all. */
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
  /** The last id of the page before; empty for the first page. */
  before: string;
}

const defaultPageSize = 50;
const maxPageSize = 1000;

/** @throws ConnectError `invalid_argument` when the size is over 1000 or the token is not one of this service. */
export function pageOf(request: { pageSize: number; pageToken: string }): Page {
  if (request.pageSize > maxPageSize) {
    throw invalid(`Cannot return ${request.pageSize} entries: page_size must be from 1 to ${maxPageSize}.`);
  }
  const before = request.pageToken === "" ? "" : Buffer.from(request.pageToken, "base64url").toString();
  if (before !== "" && !/^[a-z]{3}_[0-9a-z]{26}$/.test(before)) {
    throw invalid("Cannot use page_token: it must be the next_page_token of the page before.");
  }
  return { limit: request.pageSize || defaultPageSize, before };
}

/** Cuts a list that was read with one entry too many, and makes the token of the next page. */
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
