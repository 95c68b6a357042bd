import { describe, expect, it } from "vitest";
import { parseRunnerNetwork } from "../../server/config/runner-network.ts";
import { AddressPolicy } from "../../server/executions/sandbox/addresses.ts";

describe("addresses that agents and workflows may reach", () => {
  const policy = new AddressPolicy([]);

  it.each([
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "2001:0:a00:1::",
    "2001:db8::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("closes %s", (address) => {
    expect(policy.isOpen(address)).toBe(false);
  });

  it.each(["1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "192.0.1.1", "2606:4700::1111"])(
    "leaves %s open",
    (address) => {
      expect(policy.isOpen(address)).toBe(true);
    },
  );

  it("refuses a text that is not an address", () => {
    expect(policy.isOpen("localhost")).toBe(false);
  });

  it("opens the ranges that the operator names, and no others", () => {
    const opened = new AddressPolicy(["10.1.0.0/16", "::1"]);
    expect(opened.isOpen("10.1.255.1")).toBe(true);
    expect(opened.isOpen("::1")).toBe(true);
    expect(opened.isOpen("10.2.0.1")).toBe(false);
    expect(opened.isOpen("127.0.0.1")).toBe(false);
  });

  it.each(["localhost", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/8/8", "10.0.0.0/-1", ""])(
    "rejects the range '%s'",
    (text) => {
      expect(() => parseRunnerNetwork(`127.0.0.1,${text}`)).toThrow("list of IP addresses and CIDR ranges");
    },
  );
});
