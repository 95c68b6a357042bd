/**
 * The egress guard decides which addresses a connection may use. It checks the addresses that the socket connects to,
 * so a name that resolves differently the next time (DNS rebinding) cannot pass the check.
 */
import { contains, createBlocks, isMetadataAddress, specialAddress } from "./address.ts";
import { builtin } from "./builtin.ts";
import { RestError } from "./error.ts";
import type { Settings } from "./settings.ts";

export interface EgressGuard {
  /**
   * Checks a host that is an IP address. Names pass; they are checked when they are resolved.
   *
   * @throws RestError `egress`
   */
  checkUrl(url: URL): void;
  /**
   * Resolves the host of a URL and checks each address.
   *
   * @throws RestError `egress` when any address is refused
   */
  resolve(url: URL, hostname: string): Promise<string[]>;
}

export function createEgressGuard({ base, allowAddresses, resolve }: Settings): EgressGuard {
  const { isIP } = builtin("node:net", "apply the egress guard");
  const allowed = createBlocks(allowAddresses);
  // A base URL that names a private address is the developer's decision, but metadata addresses stay refused.
  const baseIsLocal = base.hostname === "localhost" || isIP(base.hostname) !== 0;

  function check(url: URL, address: string): void {
    const isAddress = isIP(address) !== 0;
    if (isAddress && contains(allowed, address)) return;
    if (isAddress && baseIsLocal && url.origin === base.origin && !isMetadataAddress(address)) return;
    const kind = specialAddress(address);
    if (kind === null) return;
    const host = url.hostname === address ? address : `${url.hostname} (${address})`;
    throw new RestError(
      "egress",
      `Cannot connect to ${host}: the egress guard allows public addresses only, and this is ${kind}`,
      { url: url.origin },
    );
  }

  return {
    checkUrl(url) {
      const hostname = url.hostname.replace(/^\[|\]$/g, "");
      if (isIP(hostname) !== 0) check(url, hostname);
    },
    async resolve(url, hostname) {
      const addresses = await (resolve ?? resolveBySystem)(hostname);
      for (const address of addresses) check(url, address);
      return addresses;
    },
  };
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  const dns = builtin("node:dns/promises", "resolve a host name");
  return (await dns.lookup(hostname, { all: true })).map(({ address }) => address);
}
