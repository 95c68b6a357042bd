import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary, getOption, hasOption } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, onTestFinished, test } from "vitest";
import { http } from "../../proto/google/api/annotations_pb.ts";
import { scope } from "../../proto/svc/v1/options_pb.ts";
import { scopes } from "../../server/keys.ts";
import { rulesOf } from "../../server/routes/rest/http-rule.ts";
import { services } from "../../server/services/index.ts";
import { bareEnvironment, bin, root } from "../support/runtimes.ts";

/** Runs buf without a network. */
async function buf(...args: string[]): Promise<Buffer> {
  const nowhere = "http://127.0.0.1:9";
  const env = {
    ...bareEnvironment(),
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    PATH: `${bin("")}:${process.env.PATH}`,
  };
  const { stdout } = await promisify(execFile)(bin("buf"), args, {
    cwd: root,
    env,
    encoding: "buffer",
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("_pb.ts"))
    .toSorted();
}

test("the committed code matches the generated code", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-generated-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await buf("generate", "-o", folder);
  const generated = filesUnder(join(folder, "proto"));
  expect(generated.length).toBeGreaterThan(6);
  expect(filesUnder(join(root, "proto"))).toEqual(generated);
  for (const path of generated) {
    expect(readFileSync(join(root, "proto", path), "utf8"), path).toBe(
      readFileSync(join(folder, "proto", path), "utf8"),
    );
  }
});

test("buf lint and buf format report no problems", async () => {
  expect((await buf("lint", "proto")).toString()).toBe("");
  expect((await buf("format", "proto", "-d", "--exit-code")).toString()).toBe("");
});

const methods = services.flatMap((service) => service.methods);

describe("every method", () => {
  test("belongs to a known service", () => {
    const named = services.map((service) => service.typeName.replace("svc.v1.", ""));
    expect(named.toSorted()).toEqual([
      "DeploymentService",
      "ExecutionService",
      "HealthService",
      "OrganizationService",
      "ScheduleService",
      "StatisticsService",
      "WebhookService",
    ]);
    expect(methods.length).toBeGreaterThanOrEqual(30);
  });

  test("requires a scope, except TriggerWebhook", () => {
    const allowed = [...scopes, "none"];
    expect(methods.filter((method) => !allowed.includes(getOption(method, scope))).map(String)).toEqual([]);
    expect(methods.filter((method) => getOption(method, scope) === "none").map(({ name }) => name)).toEqual([
      "TriggerWebhook",
    ]);
  });

  test("requires more than the scope read when it changes data", () => {
    const reading = methods.filter((method) => getOption(method, scope) === "read").map(({ name }) => name);
    expect(reading.filter((name) => !/^(Get|List|Watch|Tail|Check|Download)/.test(name))).toEqual([]);
  });

  test("has a unique HTTP rule", () => {
    expect(methods.filter((method) => !hasOption(method, http)).map(String)).toEqual([]);
    const paths = services
      .flatMap(rulesOf)
      .map(
        ({ verb, segments }) =>
          `${verb} /${segments.map((one) => ("literal" in one ? one.literal : "{}")).join("/")}`,
      );
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => !/^\w+ \/(api\/v1|webhook|health)\b/.test(path))).toEqual([]);
  });
});

test("every service, method and field has a comment", async () => {
  const set = fromBinary(FileDescriptorSetSchema, await buf("build", "-o", "-", "--as-file-descriptor-set"));
  const files = set.file.filter((file) => file.package === "svc.v1");
  expect(files.length).toBe(
    readdirSync(join(root, "proto/svc/v1")).filter((name) => name.endsWith(".proto")).length,
  );
  const places = files.flatMap(placesOf);
  expect(places.length).toBeGreaterThan(200);
  expect(places.filter(({ comment }) => comment === "").map(({ name }) => name)).toEqual([]);
  const fields = places.filter(({ name }) => /\.[a-z_]+$/.test(name));
  const withoutSentence = fields.filter(({ comment }) => !/[.?]$/.test(comment.trim()));
  expect(withoutSentence.map(({ name }) => name)).toEqual([]);
});

/** Field numbers of descriptor.proto, which form the paths of comments. */
const inFile = { message: 4, service: 6 };
const inMessage = { field: 2, nested: 3 };
const inService = { method: 2 };

interface Place {
  name: string;
  comment: string;
}

/** The services, methods and fields. Messages are described by their fields. */
function placesOf(file: FileDescriptorProto): Place[] {
  const comments = new Map(
    (file.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [
      path.join("."),
      leadingComments,
    ]),
  );
  const at = (name: string, ...path: number[]): Place => ({
    name,
    comment: comments.get(path.join(".")) ?? "",
  });
  const messages = (list: readonly DescriptorProto[], ...path: number[]): Place[] =>
    list
      .filter(({ options }) => options?.mapEntry !== true)
      .flatMap((message, index) => [
        ...message.field.map((field, place) =>
          at(`${message.name}.${field.name}`, ...path, index, inMessage.field, place),
        ),
        ...messages(message.nestedType, ...path, index, inMessage.nested),
      ]);
  return [
    ...file.service.flatMap((service, index) => [
      at(service.name, inFile.service, index),
      ...service.method.map((method, place) =>
        at(`${service.name}/${method.name}`, inFile.service, index, inService.method, place),
      ),
    ]),
    ...messages(file.messageType, inFile.message),
  ];
}
