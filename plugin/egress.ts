/**
 * The egress guard: decides which addresses a connection may go to. It is asked for the very address that the socket
 * connects to, so that a name that resolves differently the next time (DNS rebinding) gains nothing.
 */
import { inBlocks, isMetadataAddress, parseAddress, specialAddress } from "./address.ts";
import { builtin } from "./builtin.ts";
import { RestError } from "./error.ts";
import type { Settings } from "./settings.ts";
import type { Transport } from "./transport.ts";

export interface EgressGuard {
  /**
   * Checks a host that is itself an address; names pass, they are checked when they are resolved.
   *
   * @throws RestError `egress`
   */
  checkUrl(url: URL): void;
  /** Whether `checkUrl` alone is enough: the host is an address, or the `localhost` of the base URL. */
  knows(url: URL): boolean;
  /**
   * The addresses of a URL's host, each checked.
   *
   * @throws RestError `egress` when any of them is refused
   */
  resolve(url: URL, hostname: string): Promise<string[]>;
}

export function createEgressGuard(settings: Settings): EgressGuard {
  const { base, allowAddresses } = settings;
  const baseIsLocal = base.hostname === "localhost" || parseAddress(base.hostname) !== null;
  const resolve = settings.resolve ?? resolveBySystem;
  let baseIsChecked = false;

  function check(url: URL, address: string): void {
    if (inBlocks(allowAddresses, address)) return;
    // A base URL that names a private address is the developer's choice; nobody else's, and never a cloud's metadata.
    const chosen =
      baseIsLocal &&
      url.origin === base.origin &&
      parseAddress(address) !== null &&
      !isMetadataAddress(address);
    const kind = chosen ? null : specialAddress(address);
    if (kind === null) return;
    const host = url.hostname === address ? url.hostname : `${url.hostname} (${address})`;
    throw new RestError(
      "egress",
      `Cannot connect to ${host}: the egress guard allows public addresses only, and this is ${kind}`,
      { url: url.origin },
    );
  }

  return {
    checkUrl(url) {
      const isBase = url.origin === base.origin;
      if (isBase && baseIsChecked) return;
      const hostname = url.hostname.replace(/^\[|\]$/g, "");
      if (parseAddress(hostname)) check(url, hostname);
      baseIsChecked ||= isBase;
    },
    knows(url) {
      return (
        parseAddress(url.hostname.replace(/^\[|\]$/g, "")) !== null ||
        (baseIsLocal && url.origin === base.origin)
      );
    },
    async resolve(url, hostname) {
      const addresses = await resolve(hostname);
      for (const address of addresses) check(url, address);
      return addresses;
    },
  };
}

/**
 * A guarded `fetch` for runtimes without sockets, such as browsers: nothing there tells which address a name leads to,
 * so that only addresses and `localhost` can be judged.
 */
export function guardFetch(guard: EgressGuard, transport: Transport): Transport {
  return async (url, request) => {
    const target = new URL(url);
    guard.checkUrl(target);
    if (!guard.knows(target)) {
      throw new RestError(
        "unsupported",
        `Cannot guard the connection to ${target.hostname}: this runtime does not resolve names; set egressGuard to false`,
      );
    }
    return await transport(url, request);
  };
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  const dns = builtin("node:dns/promises", "resolve a name for the egress guard");
  const found = await dns.lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}
