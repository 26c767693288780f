import { expect } from '@jest/globals';
import type { IBinaryKeyData } from 'n8n-workflow';
import {
	buildNode,
	chain,
	buildItems,
	buildMediaGeneration,
	NODE,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 1 } });

const PROMPT = 'A "red" fox\nin snow, {{ $json.prompt }} \\ 50 %';

/** Builds our node with a model of the service and values of its fields. */
const make = (name: string, model: string, value: object, prompt: string) =>
	buildMediaGeneration(
		{
			resource: 'task',
			operation: 'generate',
			model: 'any',
			anyModel: { __rl: true, mode: 'list', value: model },
			inputMode: 'fields',
			prompt,
			anyFields: { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] },
			options: {},
		},
		{ name },
	);

/** Returns the files that a node has output with its first item. */
function getFiles(execution: Execution, node: string, isWithin: boolean): IBinaryKeyData {
	const { binary = {}, json } = execution.getOutput(node)[0] ?? {};
	return isWithin ? (json?._files as unknown as IBinaryKeyData) : binary;
}

it.each([
	['beside the JSON', {}, '={{ $binary.data }}'],
	['within the JSON', { binaryMode: 'combined' }, '={{ $json._files.data }}'],
])(
	'a text becomes a picture, and its file a video, each named by its prompt: %s',
	async (_, settings, image_url) => {
		const picture = make('Picture', 'zeta-canvas-4.0', {}, '={{ $json.prompt }}');
		const toVideo = { image_url, duration: '10' };
		const video = make('Video', 'epsilon-2/image-to-video', toVideo, 'It "moves"');
		const workflow = chain('Chained', [buildItems([{ prompt: PROMPT }]), picture, video]);
		const execution = await pair.run({ ...workflow, settings });
		expect(execution.readError()).toBe('');
		const names = ['Picture', 'Video'].map(
			(node) => getFiles(execution, node, 'binaryMode' in settings).data?.fileName,
		);
		expect(names).toEqual([
			expect.stringMatching(/^a-red-fox.*\.png$/i),
			expect.stringMatching(/^it-moves.*\.mp4$/i),
		]);
		const [upload] = pair.service.uploads.values();
		expect(pair.listTasks().map(({ input }) => input)).toEqual([
			{ prompt: PROMPT },
			{ prompt: 'It "moves"', image_url: upload?.downloadUrl, duration: '10' },
		]);
	},
);

it('each row of a CSV file with headings as people write them becomes a task, except a row without a picture', async () => {
	const blank = {
		Prompt: '',
		'image_url ': '',
		'Image URL': '',
		Duration: '',
		Notes: 'Not a field',
	};
	const [first, second] = ['1', '2'].map((name) => `https://a.example/${name}.png`);
	const rows = [
		{ ...blank, Prompt: 'A fox', 'image_url ': first, Duration: 10 },
		{ ...blank, Prompt: 'An owl', 'Image URL': ` ${second}\n` },
		{ ...blank, Prompt: 'A hare' },
	];
	const byColumns = { mappingMode: 'autoMapInputData', value: null, schema: [] };
	const node = buildMediaGeneration(
		{
			...{ resource: 'task', operation: 'generate', model: 'any' },
			anyModel: { __rl: true, mode: 'id', value: 'epsilon-2/image-to-video' },
			...{ inputMode: 'fields', anyFields: byColumns },
			options: { showInputModes: true, downloadResults: false, concurrency: 1 },
		},
		{ onError: 'continueRegularOutput' },
	);
	const toFile = buildNode('To CSV', 'n8n-nodes-base.convertToFile', 1.1, { operation: 'csv' });
	const fromFile = buildNode('Rows', 'n8n-nodes-base.extractFromFile', 1, { operation: 'csv' });
	const execution = await pair.run(chain('Sheet', [buildItems(rows), toFile, fromFile, node]));
	expect(execution.readError()).toBe('');
	expect(execution.getItems(NODE)).toMatchObject([
		{ status: 'completed' },
		{ status: 'completed' },
		{ error: "'Image URL' is required" },
	]);
	expect(pair.listTasks().map(({ input }) => input)).toEqual([
		{ prompt: 'A fox', image_url: first, duration: '10' },
		{ prompt: 'An owl', image_url: second },
	]);
});
