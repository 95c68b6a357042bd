/**
 * A server of the benchmark of calls: `node server.ts pipeline|bare <data folder>`. Both answer RunExecution with the same
 * message, behind the same listener. `pipeline` has the authentication, the interceptors and the corrections of the
 * service, and `bare` the handler of connect-node alone. Sends its port to its parent, and then, at each message, the
 * processor time in µs that it has used.
 */
import type { ConnectRouter } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { Authenticator } from "../../../server/auth/authenticator.ts";
import { KeyWatch } from "../../../server/auth/key-watch.ts";
import { prepareFirstRun } from "../../../server/first-run.ts";
import { createListener } from "../../../server/listener/index.ts";
import { discardRest } from "../../../server/routes/body-pace.ts";
import type { Handler } from "../../../server/routes/dispatch.ts";
import { deadlines } from "../../../server/routes/rpc/deadline.ts";
import { hideStatus, publicErrors } from "../../../server/routes/rpc/interceptors.ts";
import { createRpcHandler } from "../../../server/routes/rpc/rpc.ts";
import { wireOptions } from "../../../server/routes/wire.ts";
import { validateRequests } from "../../../server/services/validation/interceptor.ts";
import { openSqlite } from "../../../server/store/sqlite/index.ts";
import { apiKey, execution } from "./message.ts";

const [kind = "", dataDir = ""] = process.argv.slice(2);
const wire = { ...wireOptions({ jsonDepth: 64 }), readMaxBytes: 2 * 1024 ** 2 };
const routes = (router: ConnectRouter) => router.service(ExecutionService, { runExecution: () => execution });
const listener = createListener(kind === "bare" ? bare() : await pipeline(), {
  tls: null,
  trustedProxies: [],
  limits: { connections: 1_000, connectionsPerAddress: 1_000, idleSeconds: 60, keepAliveSeconds: 30 },
});
process.send?.(await listener.listen(0, "127.0.0.1"));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.once("disconnect", () => process.exit(0));

function bare(): Handler {
  const acceptCompression = [compressionGzip, compressionBrotli];
  return connectNodeAdapter({ routes, ...wire, acceptCompression }) as Handler;
}

async function pipeline(): Promise<Handler> {
  const engine = openSqlite(dataDir);
  await prepareFirstRun({ engine, exclusive: true }, apiKey, () => {});
  const report = (error: unknown) => console.error(error);
  const rpc = createRpcHandler({
    routes,
    router: {
      ...wire,
      interceptors: [
        hideStatus,
        publicErrors(report),
        deadlines,
        new KeyWatch(engine).interceptor(),
        validateRequests([ExecutionService]),
      ],
    },
    authenticator: new Authenticator({ engine, exclusive: true }),
    senderOf: () => ({ address: null, isProxyIgnored: false }),
    report,
  });
  return (request, response) => {
    discardRest(request, response);
    rpc.handle(request, response, request.url ?? "").catch(report);
  };
}
