/** Reads what `/openapi.json` describes for the caller: the agents and workflows of one environment. */
import type { Authenticator } from "../auth/authenticator.ts";
import type { Config } from "../config.ts";
import type { Targets } from "../openapi/targets.ts";
import type { Sender } from "../senders/senders.ts";
import { defaultEnvironment, environmentHeader } from "../services/request.ts";
import type { Request } from "./answer.ts";
import type { LocalCalls } from "./internal/local-calls.ts";
import { listTargets, withSchemas } from "./internal/targets.ts";

export interface OpenApiOptions {
  calls: LocalCalls;
  authenticator: Authenticator;
  senderOf(request: Request): Sender;
  config: Pick<Config, "limits">;
}

export async function readTargets(options: OpenApiOptions, request: Request): Promise<Targets> {
  const { authenticator, calls, config } = options;
  const owner = await authenticator.authenticate(request.headers.authorization ?? null);
  const environment = String(request.headers[environmentHeader] ?? defaultEnvironment);
  const abort = new AbortController();
  request.on("close", () => abort.abort());
  const session = {
    ...{ calls, environment, limits: config.limits, signal: abort.signal, trace: "" },
    caller: { ...owner, sender: options.senderOf(request) },
    hasControlTools: false,
  };
  const targets = await withSchemas(session, await listTargets(session, environment));
  return { environment, targets: targets.map(({ kind, target }) => ({ kind, ...target })) };
}
