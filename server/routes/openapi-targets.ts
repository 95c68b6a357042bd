/** Reads what `/openapi.json` describes for the caller: the agents and workflows of one environment. */
import type { Transport } from "@connectrpc/connect";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { Targets } from "../openapi/targets.ts";
import type { Sender } from "../senders/senders.ts";
import { defaultEnvironment, environmentHeader } from "../services/request.ts";
import type { Request } from "./answer.ts";
import { listTargets, withSchemas } from "./internal/targets.ts";

export interface OpenApiOptions {
  transport: Transport;
  authenticator: Authenticator;
  senderOf(request: Request): Sender;
  config: Pick<Config, "limits">;
}

export async function readTargets(options: OpenApiOptions, request: Request): Promise<Targets> {
  const { authenticator, transport, config } = options;
  const owner = await authenticator.authenticate(request.headers.authorization ?? null);
  const environment = String(request.headers[environmentHeader] ?? defaultEnvironment);
  const abort = new AbortController();
  request.on("close", () => abort.abort());
  const session = {
    ...{ transport, environment, limits: config.limits, signal: abort.signal, trace: "" },
    caller: { ...owner, sender: options.senderOf(request) },
    hasControlTools: false,
  };
  const targets = await withSchemas(session, await listTargets(session, environment));
  return { environment, targets: targets.map(({ kind, target }) => ({ kind, ...target })) };
}
