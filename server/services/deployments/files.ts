/** The files of a deployment. Their number and paths may exceed the size of a message that gRPC clients accept. */
import { create, toBinary } from "@bufbuild/protobuf";
import { type Deployment, DeploymentSchema, PackageFileSchema } from "../../../proto/svc/v1/deployment_pb.ts";
import type { DeploymentRow } from "../../store/tables/deployments.ts";
import { parseStored } from "../../store/tables/json.ts";
import { maxMessageBytes } from "../grpc-size.ts";
import { listPage, pageOf, rowsAfter } from "../page.ts";

interface StoredFile {
  path: string;
  sizeBytes: number;
  digest: string;
}

/**
 * Adds the files after those of `pageToken`.
 * @param limited - whether the message must fit into 4 MiB
 * @throws ConnectError `invalid_argument` when the token belongs to another deployment
 */
export async function addFiles(
  message: Deployment,
  row: DeploymentRow,
  pageToken: string,
  limited: boolean,
): Promise<void> {
  const files = parseStored<StoredFile[]>(row.files);
  const keyOf = ({ path }: StoredFile) => path;
  const maxBytes = limited
    ? maxMessageBytes - toBinary(DeploymentSchema, message).byteLength
    : Number.POSITIVE_INFINITY;
  const page = pageOf({ pageSize: 0, pageToken }, ["GetDeployment", row.deployment_id], files.length);
  const { entries, nextPageToken } = await listPage(page, {
    read: rowsAfter(files, keyOf),
    keyOf,
    schema: PackageFileSchema,
    convert: (file) => create(PackageFileSchema, { ...file, sizeBytes: BigInt(file.sizeBytes) }),
    maxBytes,
  });
  message.files = entries;
  message.nextFilesPageToken = nextPageToken;
}
