/** Whether a text is an absolute http or https URL without blanks. */
export const isWebUrl = (text: string): boolean =>
	/^https?:\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text);

/**
 * Makes a URL of a text that has one, with blanks within it percent-encoded: services put names of
 * files into links as they are. Undefined if it has none, or several.
 */
export function readWebUrl(text: string): string | undefined {
	const url = text.trim();
	if (!/^https?:/i.test(url) || /\p{Zs}https?:/iu.test(url)) return undefined;
	const encoded = url.replace(/\p{Zs}/gu, encodeURIComponent);
	return isWebUrl(encoded) ? encoded : undefined;
}

/** Decodes a part of a URL. Returned unchanged if it has a stray percent sign. */
export function decodePart(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Host names that the public DNS doesn't know: this machine, local networks, clusters. */
const INTERNAL_NAME = /^[^.]+$|\.(localhost|local|internal|svc)$/;

/** Suffixes of home and office networks (RFC 6762, appendix G; RFC 8375). */
const NETWORK_NAME = /\.(corp|home|home\.arpa|intranet|lan|localdomain|private)$/;

/** IPv4 addresses within IPv6: mapped or NAT64, and 6to4. */
const MAPPED = /^\[(?:::(?:ffff:)?|64:ff9b::)([\da-f]+):([\da-f]+)\]$/;
const SIX_TO_FOUR = /^\[2002:([\da-f]*):([\da-f]*)/;

/** Loopback, private, link-local and multicast. */
const INTERNAL_IPV6 = /^\[(::1?\]|f[cdf]..:|fe[89a-f].:)/;

/** Local NAT64 (RFC 8215). */
const LOCAL_NAT64 = /^\[64:ff9b:1:/;

/**
 * Whether only the same machine or network can reach an address: loopback, private and link-local
 * addresses, and names that the public DNS doesn't know. The token may go there over plain HTTP, so
 * unknown suffixes count as public.
 */
export function isSurelyInternalUrl(url: string): boolean {
	const host = readHost(url);
	const ipv4 = readIpv4(host, MAPPED);
	if (ipv4) return isInternalIpv4(ipv4);
	return host.startsWith('[') ? INTERNAL_IPV6.test(host) : INTERNAL_NAME.test(host);
}

/**
 * Whether an address may lead into this network. Links from a service on the internet aren't followed
 * there. Names aren't resolved, so a public name may still lead inside.
 */
export function isInternalUrl(url: string): boolean {
	if (isSurelyInternalUrl(url)) return true;
	const host = readHost(url);
	const ipv4 = readIpv4(host, MAPPED) ?? readIpv4(host, SIX_TO_FOUR);
	if (ipv4) return isInternalIpv4(ipv4) || isSpecialIpv4(ipv4);
	return LOCAL_NAT64.test(host) || NETWORK_NAME.test(host);
}

/** Whether an address is that of the machine itself, which is n8n's default. */
export const isLoopbackUrl = (url: string): boolean =>
	/^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost\.?)$/i.test(new URL(url).hostname);

const readHost = (url: string): string => new URL(url).hostname.toLowerCase().replace(/\.$/, '');

/** Reads an IPv4 address, also from two groups of an IPv6 address. */
function readIpv4(host: string, inIpv6: RegExp): number[] | undefined {
	if (/^\d+(\.\d+){3}$/.test(host)) return host.split('.').map(Number);
	const groups = inIpv6.exec(host)?.slice(1);
	return groups
		?.map((group) => parseInt(group || '0', 16))
		.flatMap((bits) => [bits >> 8, bits & 0xff]);
}

/** Ranges for hosts in the IANA IPv4 Special-Purpose Address Registry. */
const isInternalIpv4 = ([a = 0, b = 0]: number[]): boolean =>
	[0, 10, 127].includes(a) ||
	a >= 224 ||
	(a === 100 && b >= 64 && b <= 127) ||
	(a === 169 && b === 254) ||
	(a === 172 && b >= 16 && b <= 31) ||
	(a === 192 && b === 168);

/** Addresses that only work inside some networks: protocol and test ranges, and Azure's. */
const isSpecialIpv4 = ([a, b, ...rest]: number[]): boolean =>
	(a === 192 && b === 0 && rest[0] === 0) ||
	(a === 198 && (b === 18 || b === 19)) ||
	[a, b, ...rest].join('.') === '168.63.129.16';
