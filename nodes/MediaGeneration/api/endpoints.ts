import { UserError } from 'n8n-workflow';
import { isSurelyInternalUrl } from '../lib/url';
import { ENDPOINTS, TOKEN_SCHEME } from './service';

export type Endpoint = keyof typeof ENDPOINTS;

/** Finds what an endpoint's path must contain. */
export const findPlaceholder = (endpoint: Endpoint): string | undefined =>
	/\{\w+\}/.exec(ENDPOINTS[endpoint].path)?.[0];

/** The credential as n8n decrypts it. Paths and header count with `advancedSettings` only. */
export interface Credentials extends Partial<Record<Endpoint, string>> {
	baseUrl: string;
	uploadBaseUrl?: string;
	accessToken: string;
	webhookSecret?: string;
	previousWebhookSecret?: string;
	advancedSettings?: boolean;
	idempotencyHeader?: string;
}

/** Whoever has one genuine callback can try out shorter keys until one signs alike. */
export const SHORTEST_SAFE_KEY = 16;

/** A pasted token may have a blank or a line break behind it, which no header can have. */
export const buildAuthorization = ({ accessToken }: { accessToken?: unknown }): string =>
	`${TOKEN_SCHEME} ${String(accessToken).trim()}`;

const isUpload = (endpoint: Endpoint): boolean =>
	endpoint === 'streamUploadPath' || endpoint === 'urlUploadPath';

/**
 * What URLs resolve to another path, encoded or not, also after a front has decoded the slashes. Half
 * a character can't be encoded.
 */
const CLIMBS = /(^|[/\\])\.{1,2}([/\\]|$)|\p{Cs}/u;

/**
 * Builds the absolute URL of an endpoint from the credential's settings.
 * @param value replaces what stands in braces in the path, encoded; a model's slash stays as it is
 * @throws {UserError} when an address can't be used, or when no path can hold the value
 */
export function buildUrl(credentials: Credentials, endpoint: Endpoint, value?: string): string {
	const uploadBase = isUpload(endpoint) ? credentials.uploadBaseUrl?.trim() : '';
	const base = uploadBase
		? checkBase(uploadBase, 'Upload Base URL')
		: checkBase(credentials.baseUrl.trim(), 'Base URL');
	const custom = credentials.advancedSettings ? credentials[endpoint]?.trim() : '';
	const path = (custom || ENDPOINTS[endpoint].path).replace(/^\/*/, '/');
	const placeholder = findPlaceholder(endpoint);
	if (value === undefined || !placeholder) return base + path;
	if (!path.includes(placeholder))
		throw new UserError(
			`'${ENDPOINTS[endpoint].displayName}' in the credential must contain ${placeholder}`,
		);
	const isModel = placeholder === '{model}';
	const segments = isModel ? value.split('/') : [value];
	if (segments.includes('') || CLIMBS.test(value)) {
		const [field, description] = isModel
			? ['Model Name or ID', 'Choose a model from the list.']
			: ['Task ID', 'Give the taskId that Create returned.'];
		throw new UserError(`'${field}' can't be "${value}"`, { description });
	}
	return base + path.replaceAll(placeholder, segments.map(encodeURIComponent).join('/'));
}

/** Only inside a network is the token sent over http://, where it could be read on its way. */
export const isClearText = (url: string): boolean =>
	new URL(url).protocol === 'http:' && !isSurelyInternalUrl(url);

export const explainClearText = (field: string): string =>
	`'${field}' in the credential begins with http://, which would send the access token over the internet unencrypted. Change it to https://; http:// is for a service in your own network, by its IP address or internal name.`;

/** @returns the address without slashes at its end */
function checkBase(base: string, field: string): string {
	const url = /^https?:\/\//i.test(base) && URL.canParse(base) ? new URL(base) : undefined;
	if (!url)
		throw new UserError(
			`'${field}' in the credential must begin with https:// (or http:// for a service in your own network)`,
		);
	if (/[?#]/.test(base) || url.username || url.password)
		throw new UserError(
			`'${field}' in the credential must be an address without a query, a # or a login, for example https://api.example.com`,
		);
	if (isClearText(base)) throw new UserError(explainClearText(field));
	return base.replace(/\/+$/, '');
}

/** A name of letters, digits and hyphens that no request has anyway. */
const OWN_HEADER =
	/^(?!(accept|authorization|connection|content-\w+|cookie|expect|host|te|transfer-encoding|upgrade|user-agent)$)[\w-]{1,100}$/i;

/**
 * Reads the name of the header by which the service recognizes a creation that it is asked for
 * again; undefined: it has none. @throws {UserError} when it can't be the name of one
 */
export function readIdempotencyHeader({
	advancedSettings,
	idempotencyHeader,
}: Credentials): string | undefined {
	const name = advancedSettings ? idempotencyHeader?.trim() : '';
	if (!name) return undefined;
	if (OWN_HEADER.test(name)) return name;
	throw new UserError(`'Idempotency Header' in the credential can't be "${name}"`, {
		description:
			"Nothing was sent. Put in the name of the header that the service's documentation has for it, such as Idempotency-Key, or leave it blank.",
	});
}
