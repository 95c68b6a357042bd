import { packFiles } from "../../project/pack.ts";
import type { CollectedFile } from "../../project/package-file.ts";
import type { Deployment } from "../../proto/svc/v1/deployment_pb.ts";
import type { Connection } from "../api/connection.ts";
import { uploadPackage } from "../push/upload.ts";

/**
 * Packages, uploads and deploys files without a plan and a confirmation. The service checks the modules.
 *
 * @returns the active deployment, which is the previous one when nothing has changed
 */
export async function deployFiles(
  connection: Connection,
  files: readonly CollectedFile[],
  options: { environment: string; redeploy: boolean },
): Promise<Deployment> {
  const packed = await packFiles(files);
  try {
    const deployments = await connection.client("deployments");
    await uploadPackage(deployments, packed, { quiet: true });
    return await deployments.createDeployment({ digest: packed.digest, ...options });
  } finally {
    packed.remove();
  }
}
