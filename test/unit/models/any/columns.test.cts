import { corpus } from '../../../../dev/service/catalogue.cts';
import { requestAnyModel } from '../../../../nodes/MediaGeneration/models/any/request';
import { findModel } from './modelFields.ts';

type Values = Record<string, unknown>;

const VIDEO = 'epsilon-2/image-to-video';
const link = 'https://a.example/1.png';

interface Node extends Values {
	fields?: object[];
	/** The item's binary fields. */
	files?: string[];
	value?: Values | null;
	openapi?: object;
}

/** Makes the request of an item with these columns. */
async function makeRequest(
	columns: Values | undefined,
	{ fields = [], value = null, files = [], openapi, ...parameters }: Node = {},
) {
	const all: Values = {
		anyModel: VIDEO,
		anyFields: { mappingMode: 'autoMapInputData', value, schema: fields },
		...parameters,
	};
	return await requestAnyModel({
		columns,
		read: (name) => all[name],
		option: () => undefined,
		hasFile: (name) => files.includes(name),
		describe: async (name) => openapi ?? corpus.find(({ entry }) => entry.model === name)?.openapi,
	});
}

/** Makes the input of an item with these columns, once it was checked. */
async function buildInput(...given: Parameters<typeof makeRequest>) {
	const { input, check } = await makeRequest(...given);
	check?.(input);
	return JSON.parse(JSON.stringify(input)) as Values;
}

it.each<[what: string, columns: Values, Node, input: Values]>([
	['takes those that are fields', { image_url: link, duration: 5 }, {}, { duration: '5' }],
	['leaves out the others', { image_url: link, row_number: 2, 'Image URL': 'x' }, {}, {}],
	['leaves out blank ones', { image_url: link, duration: ' ', prompt: null }, {}, {}],
	['leaves out lists without entries', { image_url: link, duration: [], prompt: [' '] }, {}, {}],
	[
		'prefers the prompt of the node',
		{ image_url: link, prompt: 'a' },
		{ prompt: 'b' },
		{ prompt: 'b' },
	],
	[
		'takes a column for the prompt',
		{ image_url: link, prompt: 'a' },
		{ prompt: ' ' },
		{ prompt: 'a' },
	],
	[
		'sends nothing that was filled in before',
		{ image_url: link },
		{ value: { duration: '10', end_image_url: link } },
		{},
	],
])('%s', async (_, columns, node, input) => {
	for (const fields of [[], findModel(VIDEO).fields])
		expect(await buildInput(columns, { ...node, fields })).toEqual({ image_url: link, ...input });
});

it.each<[columns: Values, Node, warning: string | undefined]>([
	[
		{ 'End-Image URL': link, Duration: 5 },
		{},
		'Columns not sent, as no field has exactly their names: End-Image URL (the field is end_image_url), Duration (the field is duration)',
	],
	[{ duration: '', sku: 'A1' }, {}, undefined],
	[{ Duration: ' ', Prompt: null, 'End-Image URL': [] }, {}, undefined],
	[{ Duration: 7, duration: 5, Prompt: 'a' }, { prompt: 'a' }, undefined],
	[
		{ Duration: 7 },
		{ anyFields: { mappingMode: 'defineBelow', value: { image_url: link } } },
		undefined,
	],
])('columns %j that look meant for a field are a warning', async (columns, node, warning) => {
	const request = await makeRequest({ image_url: link, ...columns }, node);
	expect(request.warning).toBe(warning);
});

it.each<[what: string, columns: Values, files: string[], sent: string]>([
	['its name', { image_url: 'photo' }, ['photo'], 'photo'],
	['its URL', { image_url: link }, ['image_url'], link],
	['nothing, if a file has the name of the field', {}, ['image_url'], 'image_url'],
	[
		'what a form has of it',
		{ image_url: { filename: 'a', mimetype: 'image/png' } },
		[],
		'image_url',
	],
	['no entry, where the name has one', { image_url: [] }, ['image_url'], 'image_url'],
	[
		'an attachment of a table, which has its URL',
		{ image_url: [{ url: link, title: 'a.png', mimetype: 'image/png' }] },
		['image_url'],
		link,
	],
	[
		'what a form has of several',
		{ image_url: [{ filename: 'a', mimetype: 'x' }] },
		[],
		'image_url',
	],
])('the column of a file has %s', async (_, columns, files, sent) => {
	expect(await buildInput(columns, { files })).toEqual({ image_url: sent });
});

it('the fields of a model that was chosen before are of no account', async () => {
	const { fields } = findModel('rho/lip-sync');
	expect(await buildInput({ image_url: link, video_url: link }, { fields })).toEqual({
		image_url: link,
	});
});

it.each<[what: string, columns: Values | undefined, Node, RegExp]>([
	['the node is a tool', undefined, {}, /^Map Automatically takes no columns in a tool/],
	['a required field has no column', { duration: '5' }, {}, /^'Image URL' is required$/],
	['the columns of a row are blank', { image_url: '' }, {}, /^'Image URL' is required$/],
	[
		'a column has what the model does not take',
		{ image_url: link, duration: 7 },
		{},
		/one of 5, 10/,
	],
	[
		'no column is a field, as a task may be paid for all the same',
		{ Prompt: 'A fox', __proto__: null },
		{ anyModel: 'iota/remove-background' },
		/^The item has nothing in a column that .* field of iota\/.*Its fields are image, feather$/,
	],
	[
		'a list mixes a URL and a file, of which one would get lost',
		{ image_url: [link, { filename: 'a', mimetype: 'image/png' }] },
		{ files: ['image_url'] },
		/Image URL/,
	],
	[
		'the fields are not known',
		{ prompt: 'A fox' },
		{ anyModel: 'v/m' },
		/^The fields of v\/m aren't/,
	],
])('nothing is sent where %s', async (_, columns, node, message) => {
	await expect(buildInput(columns, node)).rejects.toThrow(message);
});
