/** Reads lists page by page, for `--limit`, `--page-token` and `--all`. */

export interface PagingValues {
  limit: number;
  "page-token": string | undefined;
  all: boolean;
}

export interface PageRequest {
  pageSize: number;
  pageToken: string;
}

/** The largest page that the API returns. */
const maxPageSize = 1000;

/**
 * Reads one page, or all of them with `--all`.
 *
 * @param read - reads one page
 * @param merge - appends the entries of a page to those of the earlier ones
 */
export async function readPages<Page extends { nextPageToken: string }>(
  values: PagingValues,
  read: (request: PageRequest) => Promise<Page>,
  merge: (all: Page, next: Page) => void,
): Promise<Page> {
  const pageToken = values["page-token"] ?? "";
  if (!values.all) return read({ pageSize: values.limit, pageToken });
  const all = await read({ pageSize: maxPageSize, pageToken });
  while (all.nextPageToken !== "") {
    const next = await read({ pageSize: maxPageSize, pageToken: all.nextPageToken });
    merge(all, next);
    all.nextPageToken = next.nextPageToken;
  }
  return all;
}
