import { CliError } from "../app/errors.ts";

const probeTimeoutMs = 10_000;

/**
 * The address of the web console of a service.
 *
 * @param baseUrl - may name an environment
 * @param environment - the one that the console shows; all without it
 * @throws CliError when the service has no console, or cannot be reached
 */
export async function consoleUrl(baseUrl: string, environment?: string): Promise<string> {
  const service = baseUrl.replace(/\/env\/[^/]+$/, "");
  const path = environment === undefined ? "" : `/env/${encodeURIComponent(environment)}`;
  const url = `${service}${path}/console`;
  let response: Response;
  try {
    response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(probeTimeoutMs) });
  } catch (error) {
    throw new CliError(
      `Cannot reach the service at ${service}.`,
      "Check the connection and SVC_BASE_URL. `svc dev` and `svc serve` start a service on this machine.",
      { cause: error },
    );
  }
  await response.body?.cancel();
  const isPage = response.ok && (response.headers.get("Content-Type") ?? "").startsWith("text/html");
  // A console may send its visitors to its start page or to a login.
  if (isPage || (response.status >= 300 && response.status < 400)) return url;
  throw new CliError(
    `The service at ${service} has no web console: ${url} returned HTTP ${response.status}.`,
    "Run `svc status` for its state, or `svc executions` for its executions.",
  );
}
