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
 * @param countOf - the number of entries, for searches: their pages may have fewer than requested although there are more
 */
export async function readPages<Page extends { nextPageToken: string }>(
  values: PagingValues,
  read: (request: PageRequest) => Promise<Page>,
  merge: (all: Page, next: Page) => void,
  countOf?: (page: Page) => number,
): Promise<Page> {
  const missing = (page: Page): number => {
    if (values.all) return maxPageSize;
    return countOf === undefined ? 0 : values.limit - countOf(page);
  };
  const pageSize = values.all ? maxPageSize : values.limit;
  const all = await read({ pageSize, pageToken: values["page-token"] ?? "" });
  while (all.nextPageToken !== "" && missing(all) > 0) {
    const next = await read({ pageSize: missing(all), pageToken: all.nextPageToken });
    merge(all, next);
    all.nextPageToken = next.nextPageToken;
  }
  return all;
}
