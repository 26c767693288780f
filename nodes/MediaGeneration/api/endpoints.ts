import { UserError } from 'n8n-workflow';
import { isSurelyInternalUrl } from '../lib/url';
import { ENDPOINTS, TOKEN_SCHEME, type Endpoint } from './service';

/** The credential as n8n decrypts it. The paths count only if `advancedSettings` is on. */
export interface Credentials extends Partial<Record<Endpoint, string>> {
	baseUrl: string;
	uploadBaseUrl?: string;
	accessToken: string;
	webhookSecret?: string;
	previousWebhookSecret?: string;
	advancedSettings?: boolean;
}

/** Trims the token: a pasted token may end with a line break, which headers can't contain. */
export const buildAuthorization = ({ accessToken }: { accessToken?: unknown }): string =>
	`${TOKEN_SCHEME} ${String(accessToken).trim()}`;

/**
 * Values that would lead to another path, even where a front server decodes encoded slashes first, and
 * lone surrogates, which can't be encoded.
 */
const UNUSABLE_VALUE = /(^|[/\\])\.{1,2}([/\\]|$)|\p{Cs}/u;

/**
 * Builds the absolute URL of an endpoint from the credential's settings.
 * @param value replaces the placeholder, URL-encoded; the slashes in a model's name stay
 * @throws {UserError} if an address or the value is unusable
 */
export function buildUrl(credentials: Credentials, endpoint: Endpoint, value = ''): string {
	const { displayName, isUpload, placeholder, path: usual } = ENDPOINTS[endpoint];
	const uploadBase = isUpload && credentials.uploadBaseUrl?.trim();
	const base = uploadBase
		? checkBase(uploadBase, 'Upload Base URL')
		: checkBase(credentials.baseUrl.trim(), 'Base URL');
	const custom = credentials.advancedSettings && credentials[endpoint]?.trim();
	const path = (custom || usual).replace(/^\/*/, '/');
	if (!placeholder) return base + path;
	if (!path.includes(placeholder))
		throw new UserError(`'${displayName}' in the credential must contain ${placeholder}`);
	const [field, segments] =
		placeholder === '{model}' ? ['Choose Model', value.split('/')] : ['Task ID', [value]];
	if (segments.includes('') || UNUSABLE_VALUE.test(value))
		throw new UserError(`'${field}' can't be "${value}"`);
	return base + path.replaceAll(placeholder, segments.map(encodeURIComponent).join('/'));
}

/** Whether the token would cross the internet unencrypted. Within one's own network, http:// is fine. */
export const isClearText = (url: string): boolean =>
	new URL(url).protocol === 'http:' && !isSurelyInternalUrl(url);

export const explainClearText = (field: string): string =>
	`'${field}' in the credential begins with http://, which would send the access token over the internet unencrypted. Change it to https://; http:// is for a service in your own network.`;

/** An address without query, fragment and login. */
const PLAIN_URL = /^https?:\/\/[^/\\?#@]+([/\\][^?#]*)?$/i;

/** @returns the address without trailing slashes. @throws {UserError} if it is unusable */
function checkBase(base: string, field: string): string {
	if (!PLAIN_URL.test(base) || !URL.canParse(base))
		throw new UserError(
			`'${field}' in the credential must begin with https:// and have no query, # or login, for example https://api.example.com`,
		);
	if (isClearText(base)) throw new UserError(explainClearText(field));
	return base.replace(/\/+$/, '');
}
