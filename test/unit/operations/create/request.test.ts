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
			getNode: () => ({ parameters }),
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
	const { request } = await prepare(edit, { extraFields: '{"prompt":"Rain","nsfw":false}' });
	const input = { image_url: edit.image, prompt: 'Rain', nsfw: false };
	expect(request).toEqual({ model: edit.model, input });
});

it('a number in Extra Fields that lost digits is refused, and a date is sent as text', async () => {
	const seed = prepare(edit, { extraFields: '{"seed":9007199254740993}' });
	await expect(seed).rejects.toThrow("'Seed' must be between -9007199254740991 and");
	const at = new Date('2026-11-02T10:00:00Z');
	const { request } = await prepare(edit, { extraFields: { at, nested: [{ at }] } });
	const text = '2026-11-02T10:00:00.000Z';
	expect(request.input).toMatchObject({ at: text, nested: [{ at: text }] });
});

const properties = {
	shots: { type: 'array', items: { type: 'object' } },
	at: { type: 'string', maxLength: 24 },
};
const content = { 'application/json': { schema: { properties: { input: { properties } } } } };
const openapi = { paths: { '/jobs/createTask': { post: { requestBody: { content } } } } };
const any = { model: 'any', anyModel: 'request-test/any' };

/** Prepares the request of a model that has these properties. */
const prepareAny = (parameters: Values) => prepare({ ...any, ...parameters }, {}, openapi);

it.each([
	{ inputMode: 'json', anyInput: '{"shots":[{"seed":9007199254740993}]}' },
	{ anyFields: { value: { shots: '[{"seed":9007199254740993}]' } } },
])('a number of any model that lost digits is refused, in %j', async (parameters) => {
	await expect(prepareAny(parameters)).rejects.toThrow("'Shots 1 › Seed' must be between");
});

it('a date in a field of any model is sent as text, before its schema checks it', async () => {
	const at = new Date('2026-11-02T10:00:00Z');
	const { request } = await prepareAny({ anyFields: { value: { at } } });
	expect(request.input).toEqual({ at: '2026-11-02T10:00:00.000Z' });
});

it('an expression in a text that nobody switched to one is refused, by the name of its field', async () => {
	const anyInput = '{ "prompt": "{{ $json.prompt }}" }';
	const json = prepareAny({ inputMode: 'json', anyInput });
	await expect(json).rejects.toThrow("'Input (JSON)' is a fixed text with {{ $json.prompt }}");
	const named = prepare({ ...edit, prompt: '{{ $json.prompt }}' });
	await expect(named).rejects.toThrow("'Prompt' is a fixed text");
});

it('a model that the node does not have is refused, and the error leads to Any Model', async () => {
	const description: unknown = expect.stringContaining('choose Any Model');
	await expect(prepare({ model: 'no-such' })).rejects.toMatchObject({ description });
});

it('a name that a document lacks is sent, with a hint that n8n shows as text', async () => {
	const anyInput = { 'a<b>': 1 };
	const { request, hints } = await prepareAny({ inputMode: 'json', anyInput });
	expect(request).toEqual({ model: any.anyModel, input: anyInput });
	expect(hints).toEqual([
		'[item 3] a‹b› in Input is no field of request-test/any. Its fields are shots, at. The input was sent as it is.',
	]);
});
