/**
 * Where the service's endpoints are, relative to its base URL. Only `createTaskPath` is contract
 * (task-service interface, "Endpoints"); the others are what public services of this kind use, so
 * each is a setting of the credential with this default.
 */
export const DEFAULT_ENDPOINTS = {
	createTaskPath: '/api/v1/jobs/createTask',
	taskDetailsPath: '/api/v1/jobs/recordInfo?taskId={taskId}',
	creditsPath: '/api/v1/chat/credit',
	streamUploadPath: '/api/file-stream-upload',
	urlUploadPath: '/api/file-url-upload',
};

export type Endpoint = keyof typeof DEFAULT_ENDPOINTS;

/** An address in the credential that can't be used; the message names the field and says what it takes. */
export class EndpointError extends Error {}

/** The credential's fields that say where the service is. */
export interface Addresses {
	baseUrl: string;
	/** Blank or absent: uploads go to the base URL. */
	uploadBaseUrl?: string;
	customEndpoints?: boolean;
}

const UPLOADS = new Set<Endpoint>(['streamUploadPath', 'urlUploadPath']);

/**
 * The absolute URL of an endpoint, by the credential's settings; `{taskId}` in it is replaced, URL-encoded.
 * @throws {EndpointError} when the base URL is no http(s) URL, or when the template lacks `{taskId}`
 */
export function endpointUrl(
	credentials: Addresses & Partial<Record<Endpoint, string>>,
	endpoint: Endpoint,
	taskId?: string,
): string {
	const uploadBase = UPLOADS.has(endpoint) ? credentials.uploadBaseUrl?.trim() : '';
	const base = (uploadBase || credentials.baseUrl.trim()).replace(/\/+$/, '');
	if (!/^https?:\/\/[^\s/]+/.test(base))
		throw new EndpointError(
			`${uploadBase ? 'Upload Base URL' : 'Base URL'} in the credential must begin with https:// (or http:// for a service in your own network)`,
		);
	const custom = credentials.customEndpoints ? credentials[endpoint]?.trim() : '';
	const path = (custom || DEFAULT_ENDPOINTS[endpoint]).replace(/^\/*/, '/');
	if (taskId === undefined) return base + path;
	if (!path.includes('{taskId}'))
		throw new EndpointError('Task Details Path in the credential must contain {taskId}');
	return base + path.replaceAll('{taskId}', encodeURIComponent(taskId));
}
