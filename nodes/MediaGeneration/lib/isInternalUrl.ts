/** Top-level names that the internet does not know: of this machine, of local networks, and of clusters of containers. */
const INTERNAL_NAMES =
	/\.(localhost|localdomain|local|internal|intranet|private|corp|home|home\.arpa|lan|svc|pod|consul|docker)$/;

/** Public names that lead to this machine, with all names below them. */
const LOOPBACK_NAMES = /(^|\.)(localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|localhost\.direct)$/;

/** Public domains whose names contain the IPv4 address they lead to, as in `app.10.0.0.1.nip.io`. Without one, they lead to this machine. */
const ADDRESS_NAMES = /(^|\.)(nip\.io|sslip\.io|xip\.io|traefik\.me|local\.gd|backname\.io)$/;

/**
 * Recognizes an address that only the same machine or network can reach: loopback, private and link-local addresses, and
 * host names that the internet does not know. A name that the internet knows may lead inside all the same; nothing is looked up.
 */
export function isInternalUrl(url: string): boolean {
	const host = new URL(url).hostname.toLowerCase().replace(/\.$/, '');
	if (host.startsWith('[')) return isInternalIpv6(expandIpv6(host.slice(1, -1)));
	if (/^\d+(\.\d+){3}$/.test(host)) return isInternalIpv4(host.split('.').map(Number));
	if (ADDRESS_NAMES.test(host)) return holdsInternalAddress(host);
	return !host.includes('.') || INTERNAL_NAMES.test(host) || LOOPBACK_NAMES.test(host);
}

/** Recognizes an address of the machine itself, as n8n has it by default. */
export const isLoopbackUrl = (url: string): boolean =>
	/^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost\.?)$/i.test(new URL(url).hostname);

/** Four numbers with dots or hyphens between them. They may overlap with others. */
const DOTTED = /(?<!\d)(?=(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?!\d))/g;
const HEXADECIMAL = /(?<![\da-z])[\da-f]{8}(?![\da-z])/g;

/** The domain's owner decides which of several addresses counts, so all of them must be public. */
function holdsInternalAddress(host: string): boolean {
	const addresses = [
		...[...host.matchAll(DOTTED)].map((parts) => parts.slice(1).map(Number)),
		...[...host.matchAll(HEXADECIMAL)].map(([hex]) =>
			splitIpv4(parseInt(hex.slice(0, 4), 16), parseInt(hex.slice(4), 16)),
		),
	];
	return addresses.length === 0 || addresses.some(isInternalIpv4);
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

/** @returns the four numbers of an IPv4 address in two groups of 16 bits */
const splitIpv4 = (high: number, low: number): number[] => [
	high >> 8,
	high & 0xff,
	low >> 8,
	low & 0xff,
];

/**
 * Prefixes whose last 32 bits are an IPv4 address: IPv4-compatible, IPv4-mapped, IPv4-translated (RFC 2765), and NAT64 (RFC 6052,
 * RFC 8215).
 */
const ENDS_WITH_IPV4 = /^(0:){5}(0|ffff):|^(0:){4}ffff:0:|^64:ff9b:(0:){4}|^64:ff9b:1:/;

/** @param groups eight numbers of 16 bits */
function isInternalIpv6(groups: number[]): boolean {
	const [first = 0, second = 0, third = 0, , , , high = 0, low = 0] = groups;
	if (ENDS_WITH_IPV4.test(groups.map((group) => group.toString(16)).join(':')))
		return isInternalIpv4(splitIpv4(high, low));
	// 6to4 (RFC 3056) has the address behind its prefix, Teredo (RFC 4380) has it inverted at its end.
	if (first === 0x2002) return isInternalIpv4(splitIpv4(second, third));
	if (first === 0x2001 && second === 0)
		return isInternalIpv4(splitIpv4(high ^ 0xffff, low ^ 0xffff));
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
