import type { IExecuteFunctions } from 'n8n-workflow';
import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import { prepareRequest } from '../../../../nodes/MediaGeneration/operations/create/request';
import type { Item } from '../../../../nodes/MediaGeneration/operations/operation';

type Values = Record<string, unknown>;

/** Prepares the request of a node with these parameters, for a service that describes a model so. */
async function prepare(parameters: Values, options: Values = {}, openapi?: object) {
	const hints: string[] = [];
	const service = { credentials: {}, getModelSchema: async () => openapi ?? Promise.reject() };
	const request = await prepareRequest({
		index: 3,
		context: {
			addExecutionHints: ({ message }: { message: string }) => hints.push(message),
		} as unknown as IExecuteFunctions,
		service: service as unknown as TaskService,
		read: (name: string) => parameters[name],
		option: (name: string) => options[name],
		settings: { timeoutSeconds: 1 },
	} satisfies Item);
	return { request, hints };
}

const edit = { model: 'beta2/image-edit', image: 'https://media.example/a.png', prompt: 'Snow' };

it('Extra Fields are merged over the input of the model', async () => {
	const { request } = await prepare(edit, { additionalInput: '{"prompt":"Rain","nsfw":false}' });
	const input = { image_url: edit.image, prompt: 'Rain', nsfw: false };
	expect(request).toEqual({ model: edit.model, input });
});

it('a model that the node does not have is refused, and the error leads to Any Model', async () => {
	const description: unknown = expect.stringContaining('choose Any Model');
	await expect(prepare({ model: 'no-such' })).rejects.toMatchObject({ description });
});

it('a name that a document lacks is sent, with a hint that n8n shows as text', async () => {
	const input = { properties: { prompt: { type: 'string' } } };
	const content = { 'application/json': { schema: { properties: { input } } } };
	const openapi = { paths: { '/jobs/createTask': { post: { requestBody: { content } } } } };
	const customInput = { 'a<b>': 1 };
	const any = { model: 'custom', customModel: 'request-test/any', inputMode: 'json', customInput };
	const { request, hints } = await prepare(any, {}, openapi);
	expect(request).toEqual({ model: 'request-test/any', input: customInput });
	expect(hints).toEqual([
		'[item 3] a‹b› in Input is no field of request-test/any. Its fields are prompt. The input was sent as it is.',
	]);
});
