import { Readable } from 'node:stream';
import type { IDataObject, IHttpRequestOptions, NodeExecutionHint, UserError } from 'n8n-workflow';
import { executeOperation } from '../../../nodes/MediaGeneration/operations/execute';
import { answerFromCorpus, settle } from '../corpus';
import { buildContext, type Run } from '../n8n';

interface Given extends Run {
	/** What the service answers at a path, as JSON or as text. */
	answer?: (path: string) => object | string;
	/** Parts of n8n's context. */
	more?: object;
}

/** Accounts so far: the catalogue of each is remembered. */
let accounts = 0;

/** Runs the node for an item, with these parameters, and an account that nobody used before. */
export async function runNode(parameters: object, given: Given = {}) {
	const { answer = answerFromCorpus, more, ...run } = given;
	const credentials = { baseUrl: 'https://api.example', accessToken: `secret token ${accounts++}` };
	const all: IDataObject = { resource: 'task', options: {}, ...parameters };
	const hints: string[] = [];
	const requests: string[] = [];
	const context = buildContext(
		{ input: [{}], ...run },
		{
			getNodeParameter: (name: string) => all[name] ?? '',
			getCredentials: async () => credentials,
			addExecutionHints: ({ message }: NodeExecutionHint) => hints.push(message),
			helpers: {
				constructExecutionMetaData: (items: object[], { itemData }: IDataObject) =>
					items.map((item) => ({ ...item, pairedItem: itemData })),
				assertBinaryData() {
					throw new Error('There is none');
				},
				httpRequest: async () => ({
					statusCode: 200,
					headers: {},
					body: Readable.from([Buffer.from('file')]),
				}),
				prepareBinaryData: async (body: Readable) => ({ data: String(await body.toArray()) }),
				async httpRequestWithAuthentication(_: string, { url }: IHttpRequestOptions) {
					const path = url.slice(credentials.baseUrl.length);
					requests.push(path);
					const body = answer(path);
					return { statusCode: 200, body: typeof body === 'string' ? body : JSON.stringify(body) };
				},
			},
			...more,
		},
	);
	const running = executeOperation(context).catch((error: UserError) => ({ error }));
	const outcome = await settle(running);
	const [output = []] = 'error' in outcome ? [] : outcome;
	return {
		output,
		items: output.map(({ json }) => json),
		error: 'error' in outcome ? outcome.error : undefined,
		hints,
		requests,
	};
}

beforeAll(
	() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterAll(() => void jest.useRealTimers());
