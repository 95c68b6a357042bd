/** Reads lines of a file of a package, for the stack frames of an error. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import {
  type GetSourceLinesRequest,
  type GetSourceLinesResponse,
  GetSourceLinesResponseSchema,
} from "../../../proto/svc/v1/deployment_pb.ts";
import { noResource } from "../../errors.ts";
import type { DeploymentRow } from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";
import type { App } from "../app.ts";

const maxFileBytes = 1024 * 1024;
const maxLineLength = 500;
const defaultContext = 3;

/** @throws ConnectError `not_found` for a file that the deployment does not list, so that a path cannot leave the package */
export async function readSourceLines(
  { packages }: Pick<App, "packages">,
  row: DeploymentRow,
  { path, line, contextLines = defaultContext }: GetSourceLinesRequest,
): Promise<GetSourceLinesResponse> {
  const files = parseStored<{ path: string; sizeBytes: number }[]>(row.files);
  const file = files.find((candidate) => candidate.path === path);
  if (row.status === "deleted" || file === undefined || file.sizeBytes > maxFileBytes) {
    throw noResource(
      "file",
      path.slice(0, 80),
      `Deployment ${row.deployment_id} has no file '${path.slice(0, 80)}' of at most ${maxFileBytes} bytes.`,
    );
  }
  const used = await packages.use({ orgId: row.org_id, digest: row.digest });
  try {
    const lines = (await readFile(join(used.directory, file.path), "utf8")).split(/\r?\n/);
    const first = Math.max(1, line - contextLines);
    return create(GetSourceLinesResponseSchema, {
      firstLine: first,
      sourceLines: lines.slice(first - 1, line + contextLines).map((text) => text.slice(0, maxLineLength)),
    });
  } finally {
    used.release();
  }
}
