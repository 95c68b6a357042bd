/** The values of SVC_RUNNER_NETWORK: which addresses runners may reach under a boundary that restricts the network. */
import { parseRange } from "../../project/address-range.ts";

/** `all` restricts nothing. A list opens these addresses and CIDR ranges besides the public ones. */
export type RunnerNetwork = "all" | readonly string[];

/** @throws Error that names the value */
export function parseRunnerNetwork(text: string): RunnerNetwork {
  if (text === "all") return "all";
  if (text === "public") return [];
  const ranges = text.split(",").map((range) => range.trim());
  for (const range of ranges) {
    if (parseRange(range) !== null) continue;
    throw new Error(
      `Cannot use SVC_RUNNER_NETWORK: it must be 'public', 'all' or a list of IP addresses and CIDR ranges, not '${range}'.`,
    );
  }
  return ranges;
}
