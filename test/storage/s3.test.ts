/** What S3 adds to the common suite: presigned uploads, parts, addressing and the URL of the storage. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { parseStorageUrl } from "../../server/config/storage-url.ts";
import { ContentMismatch, type Upload } from "../../server/storage/contract.ts";
import { openS3Storage } from "../../server/storage/s3/index.ts";
import { presign, signRequest } from "../../server/storage/s3/sign.ts";
import type { S3Storage } from "../../server/storage/s3/storage.ts";
import { configOf, type S3Endpoint, startS3 } from "../support/s3.ts";
import { limits, put, read, type Sample, sample, uploadOf } from "./samples.ts";

let folder: string;
let s3: S3Endpoint;
let storage: S3Storage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-storage-"));
  s3 = await startS3();
  storage = await openS3Storage(folder, configOf(s3), limits);
});

afterAll(async () => {
  await s3.close();
  rmSync(folder, { recursive: true, force: true });
});

const urlsOf = async (upload: Upload, acceptsParts = false) =>
  (await storage.signUpload(upload, acceptsParts)).map(({ url }) => url);

describe("a presigned upload", () => {
  test("permits only the announced size, content type, object and method, until it expires", async () => {
    const sent = sample(1000);
    const [url = ""] = await urlsOf(uploadOf(sent));
    const [short = ""] = await urlsOf(uploadOf(sent, 1));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const elsewhere = new URL(url);
    elsewhere.pathname = elsewhere.pathname.replace(
      /uploads\/.*/,
      `packages/${sent.key.orgId}/${sent.digest}`,
    );
    const refused: [title: string, Promise<Response>][] = [
      ["longer", put(url, new Uint8Array([...sent.bytes, 0]))],
      ["shorter", put(url, sent.bytes.slice(1))],
      ["content type", put(url, sent.bytes, { "content-type": "text/html" })],
      ["object", put(elsewhere.href, sent.bytes)],
      ["method", fetch(url)],
      ["expired", put(short, sent.bytes)],
    ];
    for (const [title, response] of refused) expect((await response).status, title).toBe(403);
    expect((await put(url, sent.bytes)).status).toBe(200);
  });

  test("cannot change a package after it was confirmed", async () => {
    const sent = sample(1000);
    const upload = uploadOf(sent);
    const [url = ""] = await urlsOf(upload);
    await put(url, sent.bytes);
    expect(await storage.staging.confirm(upload)).toBe(true);
    const other = sample(1000);
    expect((await put(url, other.bytes)).status).toBe(200);
    expect((await read(await storage.get(sent.key)))?.equals(sent.bytes)).toBe(true);
    await expect(storage.staging.confirm(upload)).rejects.toThrow(ContentMismatch);
    expect((await read(await storage.get(sent.key)))?.equals(sent.bytes)).toBe(true);
    await storage.staging.discard(upload);
    expect(await storage.staging.confirm(upload)).toBe(false);
  });

  test("of a large package has parts, which may be repeated and sent in any order", async () => {
    const sent = sample(20 * 2 ** 20);
    const upload = uploadOf(sent);
    expect(await urlsOf(upload, false)).toHaveLength(1);
    const parts = await storage.signUpload(upload, true);
    expect(parts.map(({ sizeBytes }) => sizeBytes)).toEqual([
      8 * 2 ** 20,
      8 * 2 ** 20,
      sent.bytes.length - 2 ** 24,
    ]);
    for (const index of [2, 0, 0]) expect((await putPart(parts, index, sent)).status).toBe(200);
    expect(await storage.staging.confirm(upload)).toBe(false);
    expect((await putPart(parts, 1, sent)).status).toBe(200);
    expect(await storage.staging.confirm(upload)).toBe(true);
    expect((await read(await storage.get(sent.key)))?.equals(sent.bytes)).toBe(true);
    expect(await storage.staging.confirm(upload)).toBe(false);
  });
});

function putPart(parts: { url: string; sizeBytes: number }[], index: number, { bytes }: Sample) {
  const start = parts.slice(0, index).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const { url = "", sizeBytes = 0 } = parts[index] ?? {};
  return put(url, bytes.slice(start, start + sizeBytes));
}

describe("virtual-host addressing", () => {
  // The server from npm expects the bucket in the canonical path of these requests, which S3 does not.
  test("signs as in the example of the documentation of Amazon S3", async () => {
    vi.useFakeTimers({ now: Date.UTC(2013, 4, 24) });
    onTestFinished(() => void vi.useRealTimers());
    const config = parseStorageUrl(
      "s3://examplebucket?region=us-east-1&endpoint=https://s3.amazonaws.com&path_style=false",
      {
        AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
        AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      },
    );
    const request = { method: "GET", key: "test.txt" } as const;
    const url = new URL(await presign(config, request, Date.now() + 86_400_000));
    expect(url.origin + url.pathname).toBe("https://examplebucket.s3.amazonaws.com/test.txt");
    expect(url.searchParams.get("X-Amz-Signature")).toBe(
      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
    );
  });

  test("uses the public endpoint for clients and the endpoint for the server", async () => {
    const config = parseStorageUrl(
      "s3://packages/team?region=r&endpoint=http://s3:9000&public_endpoint=https://files.example.com:8443&path_style=false",
      { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" },
    );
    const request = { method: "GET", key: "probe" } as const;
    expect((await signRequest(config, request)).url.href).toBe("http://packages.s3:9000/team/probe");
    const { origin, pathname } = new URL(await presign(config, request, Date.now() + 1000));
    expect(origin + pathname).toBe("https://packages.files.example.com:8443/team/probe");
  });
});

describe("SVC_STORAGE_URL", () => {
  const env = { AWS_ACCESS_KEY_ID: "id-of-the-key", AWS_SECRET_ACCESS_KEY: "secret-of-the-key" };
  const parse = (url: string, more: Record<string, string> = {}) => parseStorageUrl(url, { ...env, ...more });

  test.each<[url: string, expected: object, more?: Record<string, string>]>([
    [
      "s3://packages?region=eu-central-1",
      { endpoint: "https://s3.eu-central-1.amazonaws.com", pathStyle: false, prefix: "", sessionToken: null },
    ],
    ["s3://packages/a/b/", { prefix: "a/b/", region: "us-west-2" }, { AWS_REGION: "us-west-2" }],
    [
      "s3://packages?region=auto&endpoint=http://127.0.0.1:9000/",
      { endpoint: "http://127.0.0.1:9000", publicEndpoint: "http://127.0.0.1:9000", pathStyle: true },
      { AWS_SESSION_TOKEN: "token" },
    ],
    [
      "s3://packages?region=r&endpoint=http://s3:9000&public_endpoint=https://files.example.com&path_style=false",
      { endpoint: "http://s3:9000", publicEndpoint: "https://files.example.com", pathStyle: false },
    ],
  ])("%s is read", (url, expected, more) => {
    expect(parse(url, more)).toMatchObject({ bucket: "packages", ...expected });
  });

  test.each<[url: string, message: RegExp, more?: Record<string, string>]>([
    ["https://packages", /must be s3:\/\/bucket\/prefix/],
    ["s3://Pa_ckages?region=r", /bucket must have 3 to 63/],
    ["s3://ab?region=r", /bucket must have 3 to 63 .* not 'ab'/],
    ["s3://packages/a//b?region=r", /prefix must have segments/],
    ["s3://packages/%2e%2e/b?region=r&x", /'x' is not one of its options|prefix/],
    ["s3://packages?region=r&end_point=x", /'end_point' is not one of its options, endpoint/],
    ["s3://packages?region=r&endpoint=ftp://x", /endpoint must be an http or https URL/],
    ["s3://packages?region=r&endpoint=http://x/path", /endpoint must be an http or https URL without a path/],
    ["s3://packages?region=r&path_style=yes", /path_style must be true or false, not 'yes'/],
    [
      "s3://packages?region=r&endpoint=http://127.0.0.1:1&path_style=false",
      /requires an endpoint with a host name/,
    ],
    ["s3://packages", /region is missing; add region=… or set AWS_REGION/],
    ["s3://packages?region=r", /AWS_ACCESS_KEY_ID is not set/, { AWS_ACCESS_KEY_ID: "" }],
    ["s3://packages?region=r", /AWS_SECRET_ACCESS_KEY is not set/, { AWS_SECRET_ACCESS_KEY: "" }],
    ["s3://some-key:some-secret@packages?region=r", /must not contain credentials/],
  ])("%s is rejected", (url, message, more) => {
    let text = "";
    try {
      parse(url, more);
    } catch (error) {
      text = String(error);
    }
    expect(text).toMatch(message);
    expect(text).not.toMatch(/secret-of-the-key|some-secret|id-of-the-key/);
  });
});
