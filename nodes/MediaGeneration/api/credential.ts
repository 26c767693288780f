import { UserError } from 'n8n-workflow';
import { isSurelyInternalUrl } from '../lib/url';
import type { Endpoint } from './service';

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
	`Bearer ${String(accessToken).trim()}`;

/** Whether the token would cross the internet unencrypted. Within one's own network, http:// is fine. */
export const isClearText = (url: string): boolean =>
	new URL(url).protocol === 'http:' && !isSurelyInternalUrl(url);

export const explainClearText = (field: string): string =>
	`'${field}' in the credential begins with http://, which would send the access token over the internet unencrypted. Change it to https://; http:// is for a service in your own network.`;

/** An address without query, fragment and login. */
const PLAIN_URL = /^https?:\/\/[^/\\?#@]+([/\\][^?#]*)?$/i;

/** @returns the address without trailing slashes. @throws {UserError} if it is unusable */
export function readBase(base: string, field: string): string {
	if (!PLAIN_URL.test(base) || !URL.canParse(base))
		throw new UserError(
			`'${field}' in the credential must begin with https:// and have no query, # or login`,
		);
	if (isClearText(base)) throw new UserError(explainClearText(field));
	return base.replace(/\/+$/, '');
}
