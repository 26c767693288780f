/** Whether a text is an absolute http or https URL without blanks. */
export const isWebUrl = (text: string): boolean =>
	/^https?:\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text);

/**
 * Makes a URL of a text that has one, and percent-encodes blanks in the URL: services put names of
 * files into links as they are. Undefined if the text has no URL, or several.
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

/** Hostnames that the public DNS doesn't know: this machine, local networks, clusters. */
const INTERNAL_NAME = /^[^.[]+$|\.(localhost|local|internal|svc)$/;

/** Suffixes of home and office networks (RFC 6762, appendix G; RFC 8375). */
const NETWORK_NAME = /\.(corp|home|home\.arpa|intranet|lan|localdomain|private)$/;

/** Loopback, private, shared, link-local and multicast (IANA's registry of special addresses). */
const INTERNAL_IPV4 =
	/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])|22[4-9]|2[345]\d)\.[\d.]+$/;

/** Addresses that only work inside some networks: protocol and test ranges, and Azure's. */
const SPECIAL_IPV4 = /^(192\.0\.0|198\.1[89])\.[\d.]+$|^168\.63\.129\.16$/;

/** Loopback, private, link-local and multicast. */
const INTERNAL_IPV6 = /^\[(::1?\]|f[cdf]..:|fe[89a-f].:)/;

/** Addresses that may hold an IPv4 address: all but public ones (2000::/3), and of the public ones 6to4. */
const SPECIAL_IPV6 = /^\[(?![23][\da-f]{3}:)|^\[2002:/;

function isAmong(url: string, hostnames: RegExp[]) {
	const hostname = new URL(url).hostname.replace(/\.$/, '');
	return hostnames.some((pattern) => pattern.test(hostname));
}

/**
 * Whether only the same machine or network can reach an address: loopback, private and link-local
 * addresses, and names that the public DNS doesn't know. The token may go there over plain HTTP, so
 * unknown suffixes count as public.
 */
export const isSurelyInternalUrl = (url: string): boolean =>
	isAmong(url, [INTERNAL_NAME, INTERNAL_IPV4, INTERNAL_IPV6]);

/**
 * Whether an address may lead into this network. Links from a service on the internet aren't followed
 * there. Names aren't resolved, so a public name may still lead inside.
 */
export const isInternalUrl = (url: string): boolean =>
	isSurelyInternalUrl(url) || isAmong(url, [NETWORK_NAME, SPECIAL_IPV4, SPECIAL_IPV6]);

/** Whether an address is the machine's own, which is n8n's default. */
export const isLoopbackUrl = (url: string): boolean =>
	isAmong(url, [/^(127(\.\d+){3}|\[::1\]|([^.]+\.)*localhost)$/]);
