/** Recognizes an absolute http or https URL, as people write it: with no blanks in it. */
export const isWebUrl = (text: string): boolean =>
	/^https?:\/\/\S+$/i.test(text) && URL.canParse(text);

/** Names that the internet does not know: of this machine, local networks, and clusters. */
const INTERNAL_NAME = /^[^.]+$|\.(localhost|local|internal|svc)$/;

/**
 * Recognizes an address that only the same machine or network can reach: loopback, private and
 * link-local addresses, and names that the internet does not know. A name that it knows may lead
 * inside all the same; nothing is looked up. The token may go to such an address over plain HTTP,
 * so a name with an ending that nobody thought of counts as outside.
 */
export function isInternalUrl(url: string): boolean {
	const host = new URL(url).hostname.toLowerCase().replace(/\.$/, '');
	if (host.startsWith('[')) return isInternalIpv6(host.slice(1, -1));
	if (/^\d+(\.\d+){3}$/.test(host)) return isInternalIpv4(host.split('.').map(Number));
	return INTERNAL_NAME.test(host);
}

/** Recognizes an address of the machine itself, as n8n has it by default. */
export const isLoopbackUrl = (url: string): boolean =>
	/^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost\.?)$/i.test(new URL(url).hostname);

/** The ranges of the IANA IPv4 Special-Purpose Address Registry that hosts have. */
const isInternalIpv4 = ([a = 0, b = 0]: number[]): boolean =>
	[0, 10, 127].includes(a) ||
	a >= 224 ||
	(a === 100 && b >= 64 && b <= 127) ||
	(a === 169 && b === 254) ||
	(a === 172 && b >= 16 && b <= 31) ||
	(a === 192 && b === 168);

/** Loopback, private, link-local and multicast, also of IPv4 in IPv6 (mapped, or NAT64). */
function isInternalIpv6(address: string): boolean {
	const [, high, low] = /^(?:::(?:ffff:)?|64:ff9b::)([\da-f]+):([\da-f]+)$/.exec(address) ?? [];
	if (high === undefined || low === undefined)
		return /^(::1?$|f[cdf]..:|fe[89a-f].:)/.test(address);
	const [front, back] = [parseInt(high, 16), parseInt(low, 16)];
	return isInternalIpv4([front >> 8, front & 0xff, back >> 8, back & 0xff]);
}
