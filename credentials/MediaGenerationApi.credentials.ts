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
	isClearText,
} from '../nodes/MediaGeneration/api/credential';
import { ENDPOINTS, type Endpoint } from '../nodes/MediaGeneration/api/service';
import { KEY_NAME } from '../nodes/MediaGeneration/callback/scheme';

const getOrigin = (url: unknown, base?: string): string | undefined =>
	typeof url === 'string' && URL.canParse(url, base) ? new URL(url, base).origin : undefined;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** n8n's HTTP Request node puts its URL into `uri`, and Ignore SSL Issues into `rejectUnauthorized`. */
type SentRequest = IHttpRequestOptions & { uri?: string; rejectUnauthorized?: boolean };

/** Lists header names in lower case. axios also takes headers in groups, such as `common`. */
const listNames = (headers: object): string[] =>
	Object.entries(headers).flatMap(([name, value]) => [
		name.trim().toLowerCase(),
		...(typeof value === 'object' && value !== null ? listNames(value as object) : []),
	]);

/** Says why a proxy, another server or the answer could expose the token, and what to do. */
function explainExposure({ headers = {}, method, ...request }: SentRequest): string | undefined {
	const { proxy, rejectUnauthorized, skipSslCertificateValidation } = request;
	if (proxy || rejectUnauthorized === false || skipSslCertificateValidation)
		return "isn't sent through a node's own proxy or without a certificate check. Remove 'Proxy' and 'Ignore SSL Issues' from the node's options.";
	if (listNames(headers).includes('host'))
		return "isn't sent with a 'Host' header, which may lead to another server. Remove the header 'Host' from the node.";
	if (!METHODS.includes(String(method || 'GET').toUpperCase()))
		return `is only sent with the methods ${METHODS.join(', ')}: others may repeat it in their answer. Change 'Method' in the node.`;
	return undefined;
}

const displayOptions = { show: { advancedSettings: [true] } };

const advancedFields: INodeProperties[] = [
	{
		displayName: 'Previous Webhook HMAC Key',
		name: 'previousWebhookSecret',
		type: 'string',
		typeOptions: { password: true },
		default: '',
		description: 'The old key. Clear it once all callbacks are signed with the new one.',
	},
	{
		displayName: 'Upload Base URL',
		name: 'uploadBaseUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://upload.example.com',
		description: 'Only if files are uploaded to another address. Without a path.',
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
			hint: "The beginning of the addresses in the service's API documentation, without the path",
		},
		{
			displayName: 'Access Token',
			name: 'accessToken',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			hint: "An API key from your account on the service's website, without the word Bearer",
		},
		{
			displayName: 'Webhook HMAC Key',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			hint: 'Only the trigger and Reference need it: leave blank at first',
			description: `The ${KEY_NAME} from your account settings with the service. It tells genuine callbacks from forged ones, also those that wake Generate.`,
		},
		{
			displayName: 'Advanced Settings',
			name: 'advancedSettings',
			type: 'boolean',
			default: false,
			description:
				'Whether to show settings that you rarely need. If off, the default paths are used; the previous key and the upload address still apply.',
		},
		...advancedFields.map((field): INodeProperties => ({ ...field, displayOptions })),
		// n8n drops the values of fields that aren't shown. A hidden field of the same name keeps them.
		...advancedFields.map((field): INodeProperties => ({ ...field, type: 'hidden' })),
		...(Object.keys(ENDPOINTS) as Endpoint[]).map((name): INodeProperties => {
			const { displayName, path, placeholder } = ENDPOINTS[name];
			const description = placeholder && `Must contain ${placeholder}`;
			return { displayName, name, type: 'string', default: path, description, displayOptions };
		}),
	];

	/**
	 * Adds the bearer token, but only to requests to the configured service: n8n lets users send requests
	 * with credentials that they can't see. A function, because an expression would cost a V8 isolate.
	 * @throws {Error} if the request goes elsewhere, or if others could read the token
	 */
	authenticate: IAuthenticate = async (credentials, request: SentRequest) => {
		const urls = [request.url, request.uri].filter((url) => url !== undefined);
		const targets = urls.map((url) => getOrigin(url, request.baseURL));
		const allowed = [credentials.baseUrl, credentials.uploadBaseUrl].map((url) => getOrigin(url));
		const fault =
			targets.length && targets.every((target) => target && allowed.includes(target))
				? explainExposure(request)
				: "is only sent to 'Base URL' and 'Upload Base URL' of the credential. Correct them, or use another credential for this address.";
		if (fault) throw new Error(`The access token ${fault}`);
		const clearText = targets.find((target) => target && isClearText(target));
		if (clearText)
			throw new Error(explainClearText(clearText === allowed[0] ? 'Base URL' : 'Upload Base URL'));
		return {
			...request,
			sendCredentialsOnCrossOriginRedirect: false,
			headers: { ...request.headers, Authorization: buildAuthorization(credentials) },
		};
	};
}
