/**
 * The server that `connectconformance` drives: the conformance service behind the listener and the RPC handler of this
 * package. It reads its settings from standard input and writes its address to standard output.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, createRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createListener } from "../../server/listener/index.ts";
import { sendError } from "../../server/routes/answer.ts";
import { discardRest } from "../../server/routes/body-pace.ts";
import { deadlines } from "../../server/routes/rpc/deadline.ts";
import { createRpcHandler } from "../../server/routes/rpc/rpc.ts";
import {
  type ServerCompatRequest,
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "./generated/connectrpc/conformance/v1/server_compat_pb.ts";
import {
  ConformanceService,
  file_connectrpc_conformance_v1_service,
} from "./generated/connectrpc/conformance/v1/service_pb.ts";
import { conformance } from "./service.ts";

const settings = fromBinary(ServerCompatRequestSchema, await readMessage());
const rpc = createRpcHandler({
  routes: (router) => router.service(ConformanceService, conformance),
  router: {
    interceptors: [deadlines],
    jsonOptions: { registry: createRegistry(file_connectrpc_conformance_v1_service) },
    readMaxBytes: settings.messageReceiveLimit || 64 * 1024 ** 2,
  },
  authenticator: { authorize: async () => null },
  senderOf: () => ({ address: null, isProxyIgnored: false }),
  report: (error) => console.error(error),
  // The suite compares the errors of the library exactly, and the corrections add details to them and change some codes:
  // with them a case of each rejected message fails. test/errors/rejections.test.ts and test/errors/corrected.test.ts cover
  // the corrections.
  correct: async (result) => result,
});
const listener = createListener(
  (request, response) => {
    discardRest(request, response);
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    rpc.handle(request, response, path).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, ConnectError.from(error));
    });
  },
  {
    tls: writeCertificate(settings),
    trustedProxies: [],
    limits: { connections: 1_000, connectionsPerAddress: 1_000, idleSeconds: 60, keepAliveSeconds: 30 },
  },
);
const port = await listener.listen(0, "127.0.0.1");
const { cert } = settings.serverCreds ?? {};
const address = create(ServerCompatResponseSchema, {
  host: "127.0.0.1",
  port,
  ...(settings.useTls && cert !== undefined ? { pemCert: cert } : {}),
});
writeMessage(toBinary(ServerCompatResponseSchema, address));
process.once("SIGTERM", () => process.exit(0));

async function readMessage(): Promise<Uint8Array> {
  let received = Buffer.alloc(0);
  for await (const chunk of process.stdin) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) break;
  }
  return received.subarray(4, 4 + received.readUInt32BE(0));
}

function writeMessage(message: Uint8Array): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.byteLength);
  process.stdout.write(Buffer.concat([length, message]));
}

/** The server reads its certificate from files. */
function writeCertificate({ useTls, serverCreds }: ServerCompatRequest) {
  if (!useTls || serverCreds === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "svc-conformance-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  writeFileSync(certFile, serverCreds.cert);
  writeFileSync(keyFile, serverCreds.key);
  return { certFile, keyFile };
}
