/**
 * Whether an address can only be reached from the same machine or network: loopback, private and link-local addresses,
 * and host names that the internet does not know.
 */
export function isInternalUrl(url: string): boolean {
	const { hostname } = new URL(url);
	const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
	if (host.includes(':')) return /^(::1?$|f[cd]|fe[89ab]|::ffff:)/.test(host);
	if (/^\d+(\.\d+){3}$/.test(host))
		return /^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(
			host,
		);
	return !host.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}
