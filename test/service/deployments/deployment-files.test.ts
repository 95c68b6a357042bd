/** The list of files in the response of GetDeployment. */
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { DeploymentSchema } from "../../../proto/svc/v1/deployment_pb.ts";
import { addFiles } from "../../../server/services/deployments/files.ts";
import type { DeploymentRow } from "../../../server/store/tables/deployments.ts";

/** The default limit of gRPC clients. */
const grpcLimit = 4 * 1024 * 1024;

/** A package with as many files as the limit allows, and long paths. */
const files = Array.from({ length: 20_000 }, (_value, at) => ({
  path: `agents/${"folder/".repeat(40)}${String(at).padStart(5, "0")}.ts`,
  sizeBytes: at,
  digest: "0".repeat(64),
}));
const row: DeploymentRow = {
  org_id: "org_a",
  deployment_id: "dep_a",
  project: "large",
  version: "1.0.0",
  environment: "production",
  status: "active",
  digest: "0".repeat(64),
  size_bytes: 1,
  file_count: files.length,
  definition: "{}",
  files: JSON.stringify(files),
  error: "",
  source_deployment_id: null,
  created_by: "key_a",
  created_by_name: "a",
  created_at: 0,
  activated_at: null,
};

test("splits the files over messages that gRPC clients accept", async () => {
  const paths: string[] = [];
  const sizes: number[] = [];
  let token = "";
  do {
    const message = create(DeploymentSchema, { deploymentId: row.deployment_id, error: "x".repeat(300_000) });
    await addFiles(message, row, token, true);
    sizes.push(toBinary(DeploymentSchema, message).byteLength);
    paths.push(...message.files.map(({ path }) => path));
    token = message.nextFilesPageToken;
  } while (token !== "");
  expect(paths).toEqual(files.map(({ path }) => path));
  expect(sizes.length).toBe(2);
  expect(Math.max(...sizes)).toBeLessThan(grpcLimit);
  expect(sizes[0]).toBeGreaterThan(grpcLimit * 0.9);
});

test("sends all files to clients without the limit", async () => {
  const message = create(DeploymentSchema);
  await addFiles(message, row, "", false);
  expect([message.files.length, message.nextFilesPageToken]).toEqual([files.length, ""]);
});

test("refuses the token of another deployment", async () => {
  const message = create(DeploymentSchema);
  await addFiles(message, row, "", true);
  const other = { ...row, deployment_id: "dep_b" };
  await expect(addFiles(create(DeploymentSchema), other, message.nextFilesPageToken, true)).rejects.toThrow(
    /next_page_token of the previous page/,
  );
});
