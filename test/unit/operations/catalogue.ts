import type { IDataObject, IHttpRequestOptions, UserError } from 'n8n-workflow';
import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { operations } from '../../../nodes/MediaGeneration/operations';
import { buildContext, buildItem } from '../n8n';
import { answerFromCorpus, settle, type Answer } from '../corpus';

let accounts = 0;

/** Runs an operation of the resource Model for one item, with an account that nobody used before. */
export async function runModelOperation(
	value: string,
	parameters: IDataObject,
	answer: (path: string) => Answer = answerFromCorpus,
) {
	const operation = operations.find((one) => one.resource === 'model' && one.value === value);
	if (!operation || !('run' in operation)) throw new Error(`There is no operation ${value}`);
	const credentials = { baseUrl: 'https://service.example', accessToken: `model ${accounts++}` };
	const requests: string[] = [];
	const helpers = {
		async httpRequestWithAuthentication(_type: string, { url }: IHttpRequestOptions) {
			const path = url.replace(credentials.baseUrl, '');
			requests.push(path);
			return await Promise.resolve({ statusCode: 200, body: JSON.stringify(answer(path)) });
		},
	};
	const context = buildContext({}, { helpers });
	const item = {
		...buildItem(context, 0),
		service: new TaskService(context, credentials),
		read: (name: string) => parameters[name] ?? '',
	};
	const run = async () => {
		const request = await operation.prepare(item);
		const [outcome] = await operation.run([{ item, request }], item.call);
		return outcome;
	};
	const outcome = await settle(run().catch((error: UserError) => ({ error })));
	const failed = outcome && 'error' in outcome ? (outcome.error as UserError) : undefined;
	const items = outcome && 'items' in outcome ? outcome.items : [];
	return { output: items.map(({ json }) => json), error: failed, requests };
}
