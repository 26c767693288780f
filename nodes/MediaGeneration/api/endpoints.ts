import { UserError } from 'n8n-workflow';

/**
 * Paths of the service's endpoints, relative to its base URL. Only `createTaskPath` is contract (task-service interface,
 * "Endpoints"). The others are what public services of this kind use, so each is a setting of the credential with this default.
 */
export const DEFAULT_ENDPOINTS = {
	createTaskPath: '/api/v1/jobs/createTask',
	taskDetailsPath: '/api/v1/jobs/recordInfo?taskId={taskId}',
	creditsPath: '/api/v1/chat/credit',
	streamUploadPath: '/api/file-stream-upload',
	urlUploadPath: '/api/file-url-upload',
};

export type Endpoint = keyof typeof DEFAULT_ENDPOINTS;

/** The credential's fields that say where the service is. */
export interface Addresses extends Partial<Record<Endpoint, string>> {
	baseUrl: string;
	/** Blank or absent: uploads go to the base URL. */
	uploadBaseUrl?: string;
	customEndpoints?: boolean;
}

const UPLOAD_ENDPOINTS = new Set<Endpoint>(['streamUploadPath', 'urlUploadPath']);

/**
 * Builds the absolute URL of an endpoint from the credential's settings.
 * @param taskId replaces `{taskId}` in the path, encoded
 * @throws {UserError} when an address can't be used, or when no path can hold the task ID
 */
export function buildUrl(addresses: Addresses, endpoint: Endpoint, taskId?: string): string {
	const uploadBase = UPLOAD_ENDPOINTS.has(endpoint) ? addresses.uploadBaseUrl?.trim() : '';
	const base = uploadBase
		? checkBase(uploadBase, 'Upload Base URL')
		: checkBase(addresses.baseUrl.trim(), 'Base URL');
	const custom = addresses.customEndpoints ? addresses[endpoint]?.trim() : '';
	const path = (custom || DEFAULT_ENDPOINTS[endpoint]).replace(/^\/*/, '/');
	if (taskId === undefined) return base + path;
	if (!path.includes('{taskId}'))
		throw new UserError('Task Details Path in the credential must contain {taskId}');
	// URLs resolve these two, encoded or not, to another path of the service.
	if (taskId === '.' || taskId === '..')
		throw new UserError(`Task ID is "${taskId}", which no task can have`, {
			description: 'Give the taskId that Create returned.',
		});
	return base + path.replaceAll('{taskId}', encodeURIComponent(taskId));
}

/** @returns the address without slashes at its end */
function checkBase(base: string, field: string): string {
	const url = /^https?:\/\//i.test(base) && URL.canParse(base) ? new URL(base) : undefined;
	if (!url)
		throw new UserError(
			`${field} in the credential must begin with https:// (or http:// for a service in your own network)`,
		);
	if (/[?#]/.test(base) || url.username || url.password)
		throw new UserError(
			`${field} in the credential must be an address without a query, a # or a login, for example https://api.example.com`,
		);
	return base.replace(/\/+$/, '');
}
