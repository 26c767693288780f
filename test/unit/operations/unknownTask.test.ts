import { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { RequestContext } from '../../../nodes/MediaGeneration/api/exchange';
import type { PlainOperation } from '../../../nodes/MediaGeneration/operations/operation';
import { get } from '../../../nodes/MediaGeneration/operations/get';
import { getFiles } from '../../../nodes/MediaGeneration/operations/getFiles';
import { buildContext, buildItem } from '../n8n';

type Values = Record<string, unknown>;

/** Runs an operation for a task, of which the service answers this. */
async function run(operation: PlainOperation, answer: [number, string], values: Values = {}) {
	const [statusCode, body] = answer;
	const credentials = { baseUrl: 'https://api.example', accessToken: 'secret-token' };
	const helpers = {
		httpRequestWithAuthentication: async () => await Promise.resolve({ statusCode, body }),
	} as RequestContext['helpers'];
	const service = new TaskService({ helpers }, credentials);
	const item = { ...buildItem(buildContext(), 0), service };
	const all: Values = { taskId: 'task', files: ['result'], ...values };
	const request = await operation.prepare({ ...item, read: (name) => all[name] ?? 'data' });
	const [outcome] = await operation.run([{ item, request }], item.call);
	return (outcome as { error: Error }).error;
}

const UNKNOWN = { message: 'The service has no task with this ID', description: 'Check Task ID.' };

describe.each<[string, PlainOperation, Values]>([
	['Get', get, {}],
	['Get without Simplify', get, { simplify: false }],
	['Get Files', getFiles, {}],
])('%s', (_, operation, values) => {
	it.each<[string, [number, string]]>([
		['code 422', [200, '{"code":422,"msg":"recordInfo is null"}']],
		['code 404', [404, '{"code":404,"msg":"Not found"}']],
	])('says of an unknown task, by %s, to check the ID', async (_name, answer) => {
		expect(await run(operation, answer, values)).toMatchObject(UNKNOWN);
	});

	it('says of a page that is not there to check the paths', async () => {
		const { message } = await run(operation, [404, '<html>'], values);
		expect(message).toContain('has nothing at that address');
	});
});
