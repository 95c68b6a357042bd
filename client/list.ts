/** Lists executions, page by page. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client as ServiceClient } from "@connectrpc/connect";
import type { ExecutionService } from "../proto/svc/v1/execution_pb.ts";
import { toSvcError } from "./errors.ts";
import { toExecution } from "./execution.ts";
import type { Execution, ListOptions } from "./types.ts";

export async function* listExecutions(
  service: ServiceClient<typeof ExecutionService>,
  options: ListOptions,
): AsyncGenerator<Execution> {
  const { signal, since, until, pageSize, ...filter } = options;
  let pageToken = "";
  do {
    const request = {
      ...filter,
      pageToken,
      pageSize: pageSize ?? 0,
      ...(since !== undefined && { since: timestampFromDate(since) }),
      ...(until !== undefined && { until: timestampFromDate(until) }),
    };
    const page = await service
      .listExecutions(request, { signal: signal ?? undefined })
      .catch((error: unknown) => {
        throw toSvcError(error, signal);
      });
    for (const message of page.executions) yield toExecution(message);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
