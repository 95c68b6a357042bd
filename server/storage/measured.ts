/** Measures the operations of an object storage. */
import { metrics, secondsSince } from "../telemetry/metrics/index.ts";
import type { ObjectStorage, Staging } from "./contract.ts";

export function measured(storage: ObjectStorage): ObjectStorage {
  const { staging, verifyUrl } = storage;
  return {
    isRemote: storage.isRemote,
    put: (...values) => measure("put", () => storage.put(...values)),
    get: (key) => measure("get", () => storage.get(key)),
    sizeOf: (key) => measure("size", () => storage.sizeOf(key)),
    delete: (key) => measure("delete", () => storage.delete(key)),
    signUpload: (...values) => measure("sign", () => storage.signUpload(...values)),
    signDownload: (...values) => measure("sign", () => storage.signDownload(...values)),
    check: () => measure("check", () => storage.check()),
    ...(staging !== undefined && { staging: measuredStaging(staging) }),
    ...(verifyUrl !== undefined && { verifyUrl: verifyUrl.bind(storage) }),
  };
}

function measuredStaging(staging: Staging): Staging {
  return {
    confirm: (upload) => measure("confirm", () => staging.confirm(upload)),
    discard: (upload) => measure("discard", () => staging.discard(upload)),
  };
}

async function measure<T>(operation: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } catch (error) {
    // The client has sent other bytes than it announced.
    if (!(error instanceof Error && error.name === "ContentMismatch")) metrics.storageFailures.add(operation);
    throw error;
  } finally {
    metrics.storageDuration.observe(secondsSince(startedMs), operation);
  }
}
