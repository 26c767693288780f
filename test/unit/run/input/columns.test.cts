import {
	describeModel,
	inColumns,
	link,
	PNG,
	prepare,
	readInput,
	text,
	type Given,
	type Values,
} from './door.cts';

const url = 'https://media.example/a.png';
const openapi = describeModel(
	{
		prompt: text,
		image_url: link,
		negativePrompt: text,
		duration: { enum: ['5', '10'] },
		n: { type: 'integer' },
	},
	['image_url'],
);

it.each<[what: string, columns: Values, sent: Values]>([
	['by the name of its field', { image_url: url, n: '3' }, { n: 3 }],
	[
		'by its title',
		{ 'Image URL': url, Prompt: 'A fox', Duration: 5 },
		{ prompt: 'A fox', duration: '5' },
	],
	[
		'without regard to blanks and line breaks',
		{ 'image_url ': url, ' PROMPT\n': 'A fox' },
		{ prompt: 'A fox' },
	],
	[
		'without regard to - and _',
		{ 'IMAGE-URL': url, negative_prompt: 'rain' },
		{ negativePrompt: 'rain' },
	],
	['written in camels', { imageUrl: url, 'Negative Prompt': 'rain' }, { negativePrompt: 'rain' }],
	[
		'by its exact name before any other',
		{ image_url: url, 'Image URL': 'x', Prompt: 'a', prompt: 'b' },
		{ prompt: 'b' },
	],
	[
		'if it is filled',
		{ image_url: url, prompt: '', Prompt: 'a', duration: null, n: [] },
		{ prompt: 'a' },
	],
	[
		'and no other, without a warning',
		{ image_url: url, prompt: 'a', row_number: 2, sku: 'A1', 'My prompt': 'x' },
		{ prompt: 'a' },
	],
])('a column counts %s', async (_, columns, sent) => {
	const request = await prepare({ ...inColumns(columns), openapi });
	const hasPrompt = 'prompt' in sent;
	expect(request.input).toEqual({ image_url: url, ...sent });
	expect(request.warning === undefined).toBe(hasPrompt);
});

it.each<[string, Values, RegExp]>([
	[
		'two columns mean one field',
		{ image_url: url, Prompt: 'a', ' prompt': 'b' },
		/^The field prompt could be Prompt or {2}prompt$/,
	],
	[
		'two columns mean one field, neither exactly',
		{ 'Image URL': url, imageUrl: url },
		/^The field image_url could be Image URL or imageUrl/,
	],
	['a required field has no column', { prompt: 'a' }, /^'Image URL' is required$/],
	[
		'the column of a required field is blank',
		{ prompt: 'a', image_url: ' ' },
		/^'Image URL' is required$/,
	],
	['a column has what the model does not take', { image_url: url, duration: 7 }, /one of 5, 10/],
])('nothing is sent where %s', async (_, columns, message) => {
	await expect(readInput({ ...inColumns(columns), openapi })).rejects.toThrow(message);
});

it('a required field without a column says to fill in one', async () => {
	await expect(readInput({ ...inColumns({ prompt: 'a' }), openapi })).rejects.toMatchObject({
		description: expect.stringContaining('Fill in a column with the name of this field') as string,
	});
});

it('nothing is sent where one column means two fields, save the one of its exact name', async () => {
	const twice = describeModel({ image_url: link, imageUrl: link });
	const sent = readInput({ ...inColumns({ 'Image URL': url }), openapi: twice });
	await expect(sent).rejects.toThrow('The column Image URL could be image_url or imageUrl');
	expect(await readInput({ ...inColumns({ image_url: url }), openapi: twice })).toEqual({
		image_url: url,
	});
});

it.each<[string, Values, Partial<Given>, RegExp]>([
	[
		'the node is a tool',
		{ prompt: 'a' },
		{ isTool: true },
		/^Map Automatically takes no columns in a tool/,
	],
	[
		'no column is a field',
		{ Titel: 'A fox' },
		{ openapi: describeModel({ seed: text }) },
		/^The item has nothing in a column .*Its fields are seed$/,
	],
	[
		'the fields are not known',
		{ prompt: 'a' },
		{ openapi: undefined },
		/^The fields of brand\/any aren't known/,
	],
])('nothing is sent where %s', async (_, columns, more, message) => {
	await expect(readInput({ ...inColumns(columns), openapi, ...more })).rejects.toThrow(message);
});

it.each<[string, Values, string | undefined]>([
	[
		'neither has one',
		{ image_url: url, title: 'A fox' },
		"No prompt was sent: 'Prompt' is blank, and the item has no column for it.",
	],
	['a column has one', { image_url: url, PROMPT: 'a' }, undefined],
])(
	'a model with a prompt that gets none from node and columns is a warning: %s',
	async (_, columns, warning) => {
		expect((await prepare({ ...inColumns(columns), openapi })).warning).toBe(warning);
	},
);

it('a model without a prompt needs none', async () => {
	const given = { ...inColumns({ seed: '5', title: 'x' }), openapi: describeModel({ seed: text }) };
	expect(await prepare(given)).toMatchObject({ input: { seed: '5' }, warning: undefined });
});

it('the prompt of the node counts in place of a column, and Extra Fields in place of both', async () => {
	const columns = { image_url: url, Prompt: 'a' };
	expect(await readInput({ ...inColumns(columns, { prompt: 'b' }), openapi })).toMatchObject({
		prompt: 'b',
	});
	const options = { extraFields: '{"prompt":"c"}' };
	expect(
		await readInput({ ...inColumns(columns, { prompt: 'b', options }), openapi }),
	).toMatchObject({ prompt: 'c' });
});

const FORM = { filename: 'a.png', mimetype: 'image/png', size: 4 };

it.each<[what: string, columns: Values, files: string[], sent: string]>([
	['its name', { image_url: 'photo' }, ['photo'], 'file: photo'],
	['nothing, if a file has the name of the field', {}, ['image_url'], 'file: image_url'],
	['no entry, where the name has one', { image_url: [] }, ['image_url'], 'file: image_url'],
	['what a form has of it', { image_url: FORM }, ['image_url'], 'file: image_url'],
	[
		'what a form has of it, under its label',
		{ 'Image URL': [FORM] },
		['Image_URL_0'],
		'file: Image_URL_0',
	],
	[
		'an attachment of a table',
		{ image_url: [{ url, title: 'a.png', mimetype: 'image/png' }] },
		['image_url'],
		url,
	],
])('the column of a file has %s', async (_, columns, files, sent) => {
	const given = {
		...inColumns(columns),
		files: Object.fromEntries(files.map((name) => [name, PNG])),
	};
	expect(await readInput({ ...given, openapi })).toEqual({ image_url: sent });
});

it('nothing is sent that was filled in before Map Automatically', async () => {
	const anyFields = {
		mappingMode: 'autoMapInputData',
		value: { duration: '10', n: '={{ $json.lost }}' },
	};
	expect(await readInput({ ...inColumns({ image_url: url }, { anyFields }), openapi })).toEqual({
		image_url: url,
	});
});
