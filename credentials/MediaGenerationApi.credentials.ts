import type {
	IAuthenticate,
	ICredentialType,
	IHttpRequestOptions,
	Icon,
	INodeProperties,
} from 'n8n-workflow';
import {
	buildAuthorization,
	explainClearText,
	findPlaceholder,
	isClearText,
	SHORTEST_SAFE_KEY,
	type Endpoint,
} from '../nodes/MediaGeneration/api/endpoints';
import { ENDPOINTS } from '../nodes/MediaGeneration/api/service';

const getOrigin = (url: unknown, base?: string): string | undefined =>
	typeof url === 'string' && URL.canParse(url, base) ? new URL(url, base).origin : undefined;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** n8n's HTTP Request node has its address in `uri`, Ignore SSL Issues in the other. */
type SentRequest = IHttpRequestOptions & { uri?: string; rejectUnauthorized?: boolean };

/** Lists the names of headers, in lower case. axios takes headers in groups too, such as `common`. */
const listNames = (headers: object): string[] =>
	Object.entries(headers).flatMap(([name, value]) => [
		name.trim().toLowerCase(),
		...(typeof value === 'object' && value !== null ? listNames(value as object) : []),
	]);

/** @throws {Error} when somebody on the way of a request, or behind its answer, could read the token */
function checkRequest({ headers = {}, method, ...request }: SentRequest): void {
	const { proxy, rejectUnauthorized, skipSslCertificateValidation: skips } = request;
	if (proxy || rejectUnauthorized === false || skips)
		throw new Error(
			"The access token is not sent through a node's own proxy or past its certificate check, where others could read it. Remove 'Proxy' and 'Ignore SSL Issues' from the node's options.",
		);
	if (listNames(headers).includes('host'))
		throw new Error(
			"The access token is not sent with a header 'Host', which may lead to another server at the same address. Remove the header 'Host' from the node.",
		);
	if (!METHODS.includes(String(method || 'GET').toUpperCase()))
		throw new Error(
			`The access token is only sent with the methods ${METHODS.join(', ')}: the answer to another one may repeat it. Change 'Method' in the node.`,
		);
}

const displayOptions = { show: { advancedSettings: [true] } };

const advancedFields: INodeProperties[] = [
	{
		displayName: 'Previous Webhook HMAC Key',
		name: 'previousWebhookSecret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		hint: 'Only while you replace the key',
		description:
			'The old key, accepted as well until all callbacks are signed with the new one. Clear it then.',
	},
	{
		displayName: 'Upload Base URL',
		name: 'uploadBaseUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://upload.example.com',
		hint: 'Only if it is not the base URL',
		description: 'Address to which files are uploaded',
	},
];

export class MediaGenerationApi implements ICredentialType {
	name = 'mediaGenerationApi';

	displayName = 'Media Generation API';

	icon: Icon = {
		light: 'file:../icons/media-generation.svg',
		dark: 'file:../icons/media-generation.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com',
			description:
				'Address of the task service, without a path. It begins with https://, or with http:// for a service in your own network.',
		},
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Bearer token of your account with the service',
		},
		{
			displayName: 'Webhook HMAC Key',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			hint: 'Optional: only for the trigger and to verify callbacks',
			description:
				'The webhookHmacKey that you generated in your account settings with the service. The trigger needs it to tell genuine callbacks from forged ones.',
		},
		{
			displayName: `A key of fewer than ${SHORTEST_SAFE_KEY} characters can be found by trying, and whoever has it can forge callbacks. Use the webhookHmacKey that the service generates.`,
			name: 'shortKeyNotice',
			type: 'notice',
			default: '',
			displayOptions: {
				show: { webhookSecret: [{ _cnd: { regex: `^.{1,${SHORTEST_SAFE_KEY - 1}}$` } }] },
			},
		},
		{
			displayName: 'Advanced Settings',
			name: 'advancedSettings',
			type: 'boolean',
			default: false,
			description:
				'Whether to show settings that you rarely need: the previous key, another address for uploads, and the paths of the service. If off, the usual paths are used; the other two still count where they are filled in.',
		},
		...advancedFields.map((field): INodeProperties => ({ ...field, displayOptions })),
		// n8n drops the value of a field that is not shown. A hidden one of the same name keeps it.
		...advancedFields.map((field): INodeProperties => ({ ...field, type: 'hidden' })),
		...(Object.keys(ENDPOINTS) as Endpoint[]).map((name): INodeProperties => {
			const { displayName, path } = ENDPOINTS[name];
			const placeholder = findPlaceholder(name);
			const description = placeholder && `Must contain ${placeholder}, in the path or in the query`;
			return { displayName, name, type: 'string', default: path, description, displayOptions };
		}),
		{
			displayName: 'Idempotency Header',
			name: 'idempotencyHeader',
			type: 'string',
			default: '',
			placeholder: 'e.g. Idempotency-Key',
			hint: "Leave blank unless the service's documentation names one",
			description:
				'Header by which the service recognizes a repeated request, and answers it with the same task. If an answer is lost, the node then sends the request again. A service that ignores the header would create another task, and charge for it.',
			displayOptions,
		},
	];

	/**
	 * Adds the bearer token to requests to the configured service only. n8n lets users send requests
	 * with a credential that they can't see. A function, because an expression costs a V8 isolate.
	 * @throws {Error} when the request goes elsewhere, or where somebody on its way could read it
	 */
	authenticate: IAuthenticate = async (credentials, request: SentRequest) => {
		const urls = [request.url, request.uri].filter((url) => url !== undefined);
		const targets = urls.map((url) => getOrigin(url, request.baseURL));
		const allowed = [credentials.baseUrl, credentials.uploadBaseUrl].map((url) => getOrigin(url));
		if (!targets.length || !targets.every((target) => target && allowed.includes(target)))
			throw new Error(
				"The access token is only sent to 'Base URL' and 'Upload Base URL' of the credential. Correct them, or use another credential for this address.",
			);
		const clear = targets.find((target) => target && isClearText(target));
		if (clear)
			throw new Error(explainClearText(clear === allowed[0] ? 'Base URL' : 'Upload Base URL'));
		checkRequest(request);
		return {
			...request,
			sendCredentialsOnCrossOriginRedirect: false,
			headers: { ...request.headers, Authorization: buildAuthorization(credentials) },
		};
	};
}
