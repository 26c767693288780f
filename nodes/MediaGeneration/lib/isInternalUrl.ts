/**
 * Recognizes an address that only the same machine or network can reach: loopback, private and link-local addresses, and
 * host names that the internet does not know.
 */
export function isInternalUrl(url: string): boolean {
	const host = new URL(url).hostname.toLowerCase().replace(/\.$/, '');
	if (host.startsWith('[')) return isInternalIpv6(expandIpv6(host.slice(1, -1)));
	if (/^\d+(\.\d+){3}$/.test(host)) return isInternalIpv4(host.split('.').map(Number));
	return !host.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}

/** Ranges that are not global (IANA IPv4 Special-Purpose Address Registry), as a URL can have them. */
function isInternalIpv4([a = 0, b = 0, c = 0]: number[]): boolean {
	return (
		[0, 10, 127].includes(a) ||
		a >= 224 ||
		(a === 100 && b >= 64 && b <= 127) ||
		(a === 169 && b === 254) ||
		(a === 172 && b >= 16 && b <= 31) ||
		(a === 192 && (b === 168 || (b === 0 && c === 0))) ||
		(a === 198 && (b === 18 || b === 19))
	);
}

/** Prefixes whose last 32 bits are an IPv4 address: IPv4-compatible, IPv4-mapped, and NAT64 (RFC 6052, RFC 8215). */
const HOLDS_IPV4 = /^(0:){5}(0|ffff):|^64:ff9b:(0:){4}|^64:ff9b:1:/;

/** @param groups eight numbers of 16 bits */
function isInternalIpv6(groups: number[]): boolean {
	const [first = 0, , , , , , high = 0, low = 0] = groups;
	if (HOLDS_IPV4.test(groups.map((group) => group.toString(16)).join(':')))
		return isInternalIpv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
	// fc00::/7 is private, fe80::/10 and fec0::/10 are link-local, ff00::/8 is multicast.
	return (first & 0xfe00) === 0xfc00 || (first & 0xff80) === 0xfe80 || (first & 0xff00) === 0xff00;
}

/** URLs have IPv6 addresses in hexadecimal groups; `::` stands for those that are zero. */
function expandIpv6(address: string): number[] {
	const [head = '', tail] = address.split('::');
	const parse = (part: string) => (part ? part.split(':').map((group) => parseInt(group, 16)) : []);
	const [front, back] = [parse(head), parse(tail ?? '')];
	return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}
