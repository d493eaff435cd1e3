import { BlockList, isIP, isIPv6 } from 'node:net';

/** IPv4 networks that are not on the public internet: IANA's special-purpose registry, multicast, and the metadata address of Azure. */
const privateIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/**
 * Of IPv6 only the unicast addresses that are assigned (2000::/3) are public, without those that map others (Teredo, 6to4),
 * and documentation.
 */
const publicIpv6 = '2000::/3';
const privateIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const privateBlocks = blocksOf([...privateIpv4, ...privateIpv6]);
const publicBlocks = blocksOf([publicIpv6]);

/** Decides which addresses may be connected to. */
interface AddressRules {
  /** True for a public address, and for one in an allowed network. */
  allows(address: string): boolean;
  /** True for one in an allowed network. */
  names(address: string): boolean;
}

/**
 * The rules with the networks of WEBHOOK_NETWORKS_ALLOWED: addresses, networks such as 10.0.0.0/8, and their names, separated by
 * commas.
 */
export function addressRules(networksAllowed: string | undefined): AddressRules {
  const networks = networksAllowed?.split(',').map((name) => name.trim()) ?? [];
  const allowed = blocksOf(networks.flatMap((name) => namedNetworks[name] ?? [name]));
  const names = (given: string): boolean => {
    const address = unmapped(given);
    return isIP(address) !== 0 && allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
  return {
    names,
    allows(given) {
      if (names(given)) return true;
      const address = unmapped(given);
      if (isIP(address) === 0) return false;
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (privateBlocks.check(address, family)) return false;
      return family === 'ipv4' || publicBlocks.check(address, family);
    },
  };
}

/** An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`, `::ffff:a00:1`) in its own form, without the zone of an address. */
function unmapped(given: string): string {
  const address = given.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!isIPv6(address)) return address;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  return [high, low].flatMap((part) => [parseInt(part, 16) >> 8, parseInt(part, 16) & 255]).join('.');
}

function blocksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
