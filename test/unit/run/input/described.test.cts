import { digest } from '../../../../nodes/MediaGeneration/lib/json';
import { buildRejection } from '../../n8n';
import {
	describeModel,
	inColumns,
	inFields,
	inJson,
	links,
	PNG,
	prepare,
	text,
	type ItemSetup,
} from './prepareInput.cts';

const openapi = describeModel({ prompt: text, size: { enum: [4, 8] }, image_urls: links });

const fail = (status: number) => buildRejection(status, 'Down');

describe('a catalogue that fails', () => {
	it.each([429, 500, 503])(
		'with %d for now is the error of the item in fields and columns, and a warning with JSON',
		async (status) => {
			const known = { openapi: fail(status) };
			for (const setup of [inFields({ prompt: 'A fox' }), inColumns({ prompt: 'A fox' })])
				await expect(prepare({ ...setup, ...known })).rejects.toBe(known.openapi);
			const request = await prepare({ ...inJson({ prompt: 'A fox', sed: 1 }), ...known });
			expect(request.input).toEqual({ prompt: 'A fox', sed: 1 });
			expect(request.warning).toMatch(
				/^Nothing was checked, because the service couldn't say what brand\/any takes/,
			);
		},
	);

	it('stays the error of the items within the next minute', async () => {
		const account = { accessToken: 'minute' };
		const failed = fail(503);
		for (const answer of [failed, openapi]) {
			const setup = { ...inFields({ prompt: 'A fox' }), openapi: answer, account };
			await expect(prepare(setup)).rejects.toBe(failed);
		}
	});

	it.each<[string, unknown]>([
		['says that there is nothing', fail(404)],
		['rejects the token', fail(401)],
		['has no description yet', null],
	])('is no error, only without a description, where it %s', async (_, none) => {
		const request = await prepare({ ...inFields({ anything: 5 }), openapi: none });
		expect(request).toMatchObject({ input: { anything: 5 }, warning: undefined });
	});

	it('is not asked where the workflow stores the description', async () => {
		const inputSchema = { properties: { size: { type: 'integer' } } };
		const schema = [{ id: '$schema', model: 'brand/any', inputSchema }];
		const anyFields = { mappingMode: 'defineBelow', value: { size: '5' }, schema };
		const request = await prepare({ ...inFields({}, { anyFields }), openapi: fail(503) });
		expect(request.input).toEqual({ size: 5 });
	});
});

it.each([null, [], [{ id: 'size' }]])(
	'the service says what a model takes where the workflow stores %j',
	async (schema) => {
		const anyFields = { mappingMode: 'defineBelow', value: { size: '8' }, schema };
		const request = await prepare({ ...inFields({}, { anyFields }), openapi });
		expect(request.input).toEqual({ size: 8 });
	},
);

describe('what is noted for a retry from the list', () => {
	const files = { photo: PNG };
	const note = async (setup: ItemSetup) => digest((await prepare({ files, ...setup })).userInput);
	const whole = { prompt: 'A fox', size: 4, image_urls: ['photo'] };
	const known = { ...inFields(whole), openapi };
	const object = { mimeType: 'x', data: PNG.toString('base64') };
	const extraFields = '{"size":4,"image_urls":["photo"]}';

	it.each<[string, ItemSetup]>([
		['without a description', { ...inFields(whole), openapi: null }],
		[
			'with their keys in another order',
			inFields({ size: 4, image_urls: ['photo'], prompt: 'A fox' }),
		],
		[
			'with texts for numbers, and blanks around',
			inFields({ ...whole, size: ' 4', prompt: ' A fox\n' }),
		],
		["with n8n's object of the file", inFields({ ...whole, image_urls: [object] })],
		['beside blank ones', inFields({ ...whole, image_urls: ['photo', ''], n: null, list: [' '] })],
		['beside what the editor stores itself', inFields({ ...whole, $guide: 'size' })],
		['with the prompt in Prompt', inFields({ size: 4, image_urls: 'photo' }, { prompt: 'A fox' })],
		[
			'in part in Extra Fields',
			{ ...inFields({ prompt: 'A fox', size: 8 }, { options: { extraFields } }), openapi },
		],
		['in JSON during a failure', { ...inJson(JSON.stringify(whole)), openapi: fail(503) }],
		['in a whole body', inJson({ model: 'brand/any', input: whole })],
		['in a flat body', { ...inJson({ model: 'brand/any', ...whole }), openapi }],
	])('is the same for equal values %s', async (_, setup) => {
		expect(await note(setup)).toBe(await note(known));
	});

	it('is the same for columns of other titles', async () => {
		const columns = inColumns({ Prompt: 'A fox', 'Image URLs': 'photo', SIZE: 4 });
		expect(await note({ ...columns, openapi })).toBe(await note(known));
	});

	it.each<[string, ItemSetup]>([
		['another value', inFields({ ...whole, size: 8 })],
		['another file', inFields({ ...whole, image_urls: ['photo', 'photo'] })],
		['a name in JSON like those of the editor', inJson({ ...whole, $size: 8 })],
		['another model', inFields(whole, { anyModel: 'brand/other' })],
		['one field more', { ...inFields(whole, { options: { extraFields: { more: 0 } } }), openapi }],
		[
			'the same text as the name of another field',
			inFields({ size: 4, image_urls: ['photo'], negative: 'A fox' }),
		],
	])('differs for %s', async (_, setup) => {
		expect(await note(setup)).not.toBe(await note(known));
	});

	it('is that of the text of a data URI', async () => {
		const noteUri = (uri: string) => note({ ...inFields({ image_urls: uri }), openapi });
		const uri = `data:image/png;base64,${PNG.toString('base64')}`;
		expect(await noteUri(uri)).toBe(await noteUri(`${uri}\n`));
		expect(await noteUri(uri)).not.toBe(await noteUri(uri.replace('png', 'gif')));
	});
});
