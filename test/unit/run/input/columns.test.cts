import {
	describeModel,
	inColumns,
	link,
	PNG,
	prepare,
	readInput,
	text,
	type ItemSetup,
	type Values,
} from './prepareInput.cts';

const url = 'https://media.example/a.png';
const openapi = describeModel(
	{ prompt: text, image_url: link, negativePrompt: text, duration: { enum: ['5', '10'] } },
	['image_url'],
);
const NO_PROMPT = "No prompt was sent: 'Prompt' is blank, and the item has no column for it.";

it.each<[what: string, columns: Values, sent: Values]>([
	['by its title', { 'Image URL': url, Prompt: 'A fox', Duration: 5 }, { duration: '5' }],
	['without regard to blanks and line breaks', { 'image_url ': url, ' PROMPT\n': 'A fox' }, {}],
	[
		'without regard to - and _',
		{ 'IMAGE-URL': url, prompt: 'A fox', negative_prompt: 'rain' },
		{ negativePrompt: 'rain' },
	],
	['written in camels', { imageUrl: url, prompt: 'A fox' }, {}],
	[
		'by its exact name before any other',
		{ image_url: url, 'Image URL': 'x', Prompt: 'a', prompt: 'A fox' },
		{},
	],
	['if it is filled', { image_url: url, prompt: '', Prompt: 'A fox', duration: [null] }, {}],
	[
		'and no other, without a warning',
		{ image_url: url, prompt: 'A fox', row_number: 2, 'My prompt': 'x' },
		{},
	],
])('a column counts %s', async (_, columns, sent) => {
	expect(await prepare({ ...inColumns(columns), openapi })).toMatchObject({
		input: { prompt: 'A fox', image_url: url, ...sent },
		warning: undefined,
	});
});

it.each<[string, Values, RegExp, Partial<ItemSetup>]>([
	[
		'two columns mean one field',
		{ 'Image URL': url, imageUrl: url },
		/^The column Image URL or imageUrl could be the field image_url$/,
		{},
	],
	[
		'one column means two fields',
		{ 'Image URL': url },
		/^The column Image URL could be the field image_url or imageUrl$/,
		{ openapi: describeModel({ image_url: link, imageUrl: link }) },
	],
	['a required field has no column', { prompt: 'a' }, /^'Image URL' is required$/, {}],
	['the column of a required field is blank', { image_url: ' ' }, /^'Image URL' is required$/, {}],
	[
		'a column has what the model does not take',
		{ image_url: url, duration: 7 },
		/one of 5, 10/,
		{},
	],
	['the node is a tool', { prompt: 'a' }, /^Map Automatically takes no columns/, { isTool: true }],
	[
		'no column is a field',
		{ Titel: 'A fox' },
		/^The item has nothing in a column .*Its fields are seed$/,
		{ openapi: describeModel({ seed: text }) },
	],
	[
		'the fields are not known',
		{ prompt: 'a' },
		/^The fields of brand\/any aren't known/,
		{ openapi: undefined },
	],
])('nothing is sent where %s', async (_, columns, message, more) => {
	const read = readInput({ ...inColumns(columns), openapi, ...more });
	await expect(read).rejects.toMatchObject({
		message: expect.stringMatching(message) as string,
		description: expect.stringMatching(/column|Column|Correct/) as string,
	});
});

it('a column with the exact name of one field means no other field', async () => {
	const openapi = describeModel({ image_url: link, imageUrl: link });
	const setup = { ...inColumns({ image_url: url }), openapi };
	expect(await readInput(setup)).toEqual({ image_url: url });
});

it('a warning says that neither the node nor a column has the prompt of a model', async () => {
	const columns = { image_url: url, title: 'A fox' };
	expect((await prepare({ ...inColumns(columns), openapi })).warning).toBe(NO_PROMPT);
	const setup = { ...inColumns({ seed: '5', title: 'x' }), openapi: describeModel({ seed: text }) };
	expect(await prepare(setup)).toMatchObject({ input: { seed: '5' }, warning: undefined });
});

it('the prompt of the node counts in place of a column, and Extra Fields in place of both', async () => {
	const columns = { image_url: url, Prompt: 'a' };
	const readWith = async (more: Values) =>
		await readInput({ ...inColumns(columns, more), openapi });
	expect(await readWith({ prompt: 'b' })).toMatchObject({ prompt: 'b' });
	const options = { extraFields: '{"prompt":"c"}' };
	expect(await readWith({ prompt: 'b', options })).toMatchObject({ prompt: 'c' });
});

const FORM = { filename: 'a.png', mimetype: 'image/png', size: 4 };

it.each<[what: string, columns: Values, sent: string]>([
	['its name', { image_url: 'photo' }, 'file: photo'],
	['what a form has of it, under its label', { 'Image URL': [FORM] }, 'file: Image_URL_0'],
	[
		'an attachment of a table',
		{ image_url: [{ url, title: 'a.png', mimetype: 'image/png' }] },
		url,
	],
])('the column of a file has %s', async (_, columns, image_url) => {
	const files = { photo: PNG, Image_URL_0: PNG };
	expect(await readInput({ ...inColumns(columns), files, openapi })).toEqual({ image_url });
});

it('nothing is sent that was filled in before Map Automatically', async () => {
	const value = { duration: '{{ $json.x }}', negativePrompt: '={{ $json.lost }}' };
	const anyFields = { mappingMode: 'autoMapInputData', value };
	const setup = inColumns({ image_url: url, prompt: 'a' }, { anyFields });
	expect(await prepare({ ...setup, openapi })).toMatchObject({
		input: { image_url: url, prompt: 'a' },
		warning: undefined,
	});
});
