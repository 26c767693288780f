import { expect } from '@jest/globals';
import type { IBinaryKeyData } from 'n8n-workflow';
import { buildByHand, buildByNode } from '../../dev/fixtures/byHand.cts';
import { TOKEN } from '../../dev/fixtures/pair.cts';
import {
	chain,
	generate,
	items,
	mediaGeneration,
	NODE,
	prompts,
} from '../../dev/fixtures/workflows.cts';
import type { Execution } from '../../dev/n8n/execution.cts';
import { usePair } from './support.cts';

const pair = usePair({ service: { taskSeconds: 1 } });

const PROMPT = 'A "red" fox\nin snow, {{ $json.prompt }} \\ 50 %';
const OTHER = 'An owl at "night"\n(second line)';

/** Builds our node with a model of the service and values of its fields. */
const make = (name: string, model: string, value: object, prompt: string) =>
	mediaGeneration(
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
	['beside the JSON', {}],
	['within the JSON', { binaryMode: 'combined' }],
])(
	'a text becomes a picture, and its file a video, each named by its prompt: %s',
	async (_, settings) => {
		const picture = make('Picture', 'zeta-canvas-4.0', {}, '={{ $json.prompt }}');
		const toVideo = { image_url: 'data', duration: '10' };
		const video = make('Video', 'epsilon-2/image-to-video', toVideo, 'It "moves"');
		const workflow = chain('Chained', [items([{ prompt: PROMPT }]), picture, video]);
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

it("the guide's workflow by hand and the one by our node make the same picture", async () => {
	const job = { url: pair.service.url, token: TOKEN, prompt: OTHER };
	const files = [];
	for (const workflow of [buildByHand(job), buildByNode(job)]) {
		const execution = await pair.run(workflow);
		expect(execution.readError()).toBe('');
		const [item] = execution.getOutput('Use the file');
		files.push(item?.binary?.data?.mimeType);
	}
	expect(files).toEqual(['image/png', 'image/png']);
	expect(pair.listTasks().map(({ input }) => input)).toEqual([
		{ prompt: OTHER },
		{ prompt: OTHER },
	]);
});

it.each(['polling', 'callback'])(
	'files of equal prompts are numbered by the place of their items, whichever is ready first: %s',
	async (howToWait) => {
		const [first, slow] = ['बर्फ में लाल लोमड़ी, und ein Haus am Meer, '.repeat(2), '#slow=4'];
		const texts = [`${first} ${slow}`, 'An owl', first, first];
		const node = generate({ options: { howToWait, downloadResults: true } });
		const execution = await pair.runNodes(prompts(texts), node);
		expect(execution.readError()).toBe('');
		const ended = pair
			.listTasks()
			.sort((one, other) => Number(one.completeTime) - Number(other.completeTime));
		expect(ended.at(-1)?.input.prompt).toContain(slow);
		const name = 'बर्फ-में-लाल-लोमड़ी-und-ein-haus-am-meer';
		const names = execution.getOutput(NODE).map(({ binary }) => binary?.data?.fileName);
		expect(names).toEqual([name, 'an-owl', `${name}-2`, `${name}-3`].map((one) => `${one}.mp4`));
	},
);
