/** Recognizes an absolute http or https URL, as people write it: with no blanks in it. */
export const isWebUrl = (text: string): boolean =>
	/^https?:\/\/\S+$/i.test(text) && URL.canParse(text);

/** Decodes a part of a URL, which may have a lone percent sign. */
export function decodePart(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Names that the internet does not know: of this machine, local networks, and clusters. */
const INTERNAL_NAME = /^[^.]+$|\.(localhost|local|internal|svc)$/;

/** Endings that networks at home and at work use (RFC 6762, appendix G; RFC 8375). */
const NETWORK_NAME = /\.(corp|home|home\.arpa|intranet|lan|localdomain|private)$/;

/** IPv4 in IPv6: mapped or by NAT64, and by 6to4. */
const MAPPED = /^\[(?:::(?:ffff:)?|64:ff9b::)([\da-f]+):([\da-f]+)\]$/;
const SIX_TO_FOUR = /^\[2002:([\da-f]*):([\da-f]*)/;

/** Loopback, private, link-local and multicast. */
const INTERNAL_IPV6 = /^\[(::1?\]|f[cdf]..:|fe[89a-f].:)/;

/** NAT64 of a network's own (RFC 8215). */
const LOCAL_NAT64 = /^\[64:ff9b:1:/;

/**
 * Recognizes an address that only the same machine or network can reach: loopback, private and
 * link-local addresses, and names that the internet does not know. The token may go there over
 * plain HTTP, so unknown endings count as outside.
 */
export function isSurelyInternalUrl(url: string): boolean {
	const host = readHost(url);
	const ipv4 = readIpv4(host, MAPPED);
	if (ipv4) return isInternalIpv4(ipv4);
	return host.startsWith('[') ? INTERNAL_IPV6.test(host) : INTERNAL_NAME.test(host);
}

/**
 * Recognizes an address that may lead into this network, so that no link of a service on the
 * internet is followed there. A public name may lead inside all the same; nothing is looked up.
 */
export function isInternalUrl(url: string): boolean {
	if (isSurelyInternalUrl(url)) return true;
	const host = readHost(url);
	const ipv4 = readIpv4(host, MAPPED) ?? readIpv4(host, SIX_TO_FOUR);
	if (ipv4) return isInternalIpv4(ipv4) || isSpecialIpv4(ipv4);
	return LOCAL_NAT64.test(host) || NETWORK_NAME.test(host);
}

/** Recognizes an address of the machine itself, as n8n has it by default. */
export const isLoopbackUrl = (url: string): boolean =>
	/^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost\.?)$/i.test(new URL(url).hostname);

const readHost = (url: string): string => new URL(url).hostname.toLowerCase().replace(/\.$/, '');

/** Reads an IPv4 address, also where an IPv6 address has it in two groups. */
function readIpv4(host: string, inIpv6: RegExp): number[] | undefined {
	if (/^\d+(\.\d+){3}$/.test(host)) return host.split('.').map(Number);
	const groups = inIpv6.exec(host)?.slice(1);
	return groups
		?.map((group) => parseInt(group || '0', 16))
		.flatMap((bits) => [bits >> 8, bits & 0xff]);
}

/** The ranges of the IANA IPv4 Special-Purpose Address Registry that hosts have. */
const isInternalIpv4 = ([a = 0, b = 0]: number[]): boolean =>
	[0, 10, 127].includes(a) ||
	a >= 224 ||
	(a === 100 && b >= 64 && b <= 127) ||
	(a === 169 && b === 254) ||
	(a === 172 && b >= 16 && b <= 31) ||
	(a === 192 && b === 168);

/** Addresses that answer inside some networks only: of protocols, of test networks, and of Azure. */
const isSpecialIpv4 = ([a, b, ...rest]: number[]): boolean =>
	(a === 192 && b === 0 && rest[0] === 0) ||
	(a === 198 && (b === 18 || b === 19)) ||
	[a, b, ...rest].join('.') === '168.63.129.16';
