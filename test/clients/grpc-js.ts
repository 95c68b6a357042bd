/** Clients of @grpc/grpc-js, from the files of the contract. */
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { root } from "../support/runtimes.ts";

const definition = loadSync(
  [
    "svc/v1/execution.proto",
    "svc/v1/deployment.proto",
    "grpc/health/v1/health.proto",
    "grpc/reflection/v1/reflection.proto",
    "grpc/reflection/v1alpha/reflection.proto",
  ],
  {
    includeDirs: [join(root, "proto"), join(root, "node_modules/google-proto-files")],
    keepCase: true,
    enums: String,
    oneofs: true,
  },
);

export type Message = Record<string, unknown>;

/** Calls methods by their full name. Close it after use. */
export class GrpcJs {
  readonly #client: grpc.Client;
  readonly metadata: grpc.Metadata = new grpc.Metadata();

  constructor(url: string, apiKey: string | null, authority?: Buffer) {
    const { host } = new URL(url);
    const credentials =
      authority === undefined ? grpc.credentials.createInsecure() : grpc.credentials.createSsl(authority);
    this.#client = new grpc.Client(host, credentials);
    if (apiKey !== null) this.metadata.set("authorization", `Bearer ${apiKey}`);
  }

  close(): void {
    this.#client.close();
  }

  /** @throws grpc.ServiceError */
  unary(method: string, request: Message, options: grpc.CallOptions = {}): Promise<Message> {
    const { path, requestSerialize, responseDeserialize } = methodOf(method);
    return new Promise((resolve, reject) => {
      const done = (error: grpc.ServiceError | null, value?: object) =>
        error === null ? resolve(value as Message) : reject(error);
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.metadata,
        options,
        done,
      );
    });
  }

  serverStream(
    method: string,
    request: Message,
    options: grpc.CallOptions = {},
  ): grpc.ClientReadableStream<object> {
    const { path, requestSerialize, responseDeserialize } = methodOf(method);
    return this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.metadata,
      options,
    );
  }

  /** Sends all requests, then reads all responses. */
  bidirectional(method: string, requests: readonly Message[]): Promise<Message[]> {
    const { path, requestSerialize, responseDeserialize } = methodOf(method);
    const call = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.metadata,
    );
    for (const request of requests) call.write(request);
    call.end();
    return Array.fromAsync(call as AsyncIterable<Message>);
  }
}

function methodOf(name: string): grpc.MethodDefinition<object, object> {
  const [service = "", method = ""] = name.split("/");
  const methods = definition[service] as unknown as Record<string, grpc.MethodDefinition<object, object>>;
  const found = methods[method];
  if (found === undefined) throw new Error(`There is no method ${name}.`);
  return found;
}
