import { expect } from '@jest/globals';
import { buildResultBytes } from '../../dev/fixtures/results.cts';
import {
	callWorkflow,
	chain,
	connect,
	createAndWait,
	NODE,
	NODE_TYPE,
	prompts,
	SEEN,
	WHEN_CALLED,
} from '../../dev/fixtures/workflows.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

/** Of result files, in MB. */
const SIZE = 0.0001;

/** What a record has in place of its `resultJson`, made of the links to three files, and which of them are the results. */
const SHAPES: Array<
	[prompt: string, results: number[], build: (a: string, b: string, c: string) => object]
> = [
	['resultUrl', [0], (a) => ({ resultJson: { resultUrl: a } })],
	['video_url', [0], (a) => ({ resultJson: { video_url: a } })],
	[
		'a list of objects',
		[0, 1],
		(a, b) => ({ resultJson: { resultUrls: [{ resultUrl: a }, { resultUrl: b }] } }),
	],
	[
		'lists in lists',
		[0, 1, 2],
		(a, b, c) => ({ resultJson: { output: [[{ url: a }], [[b, c]]] } }),
	],
	[
		'bad entries among good ones',
		[0, 1],
		(a, b) => ({ resultJson: { resultUrls: [null, a, 7, '', { no: 1 }, b] } }),
	],
	[
		'a cover and a preview',
		[1],
		(a, b, c) => ({ resultJson: { preview_url: a, videos: [{ cover_url: c, url: b }] } }),
	],
	[
		'a known place after another',
		[1, 0],
		(a, b) => ({ resultJson: { hd_url: a, resultUrls: [b] } }),
	],
	[
		'a song and its stream',
		[1],
		(a, b) => ({ resultJson: '', response: { data: [{ stream_audio_url: a, audio_url: b }] } }),
	],
	[
		'a stream alone',
		[0],
		(a) => ({ resultJson: '', response: { data: [{ stream_audio_url: a, audio_url: '' }] } }),
	],
	['the rest of the record', [2], (_a, _b, c) => ({ resultJson: '', output: { url: c } })],
];

/** Gives the record of a completed task the shape that its prompt names. */
function reshape(body: unknown, path: string) {
	const { data, ...rest } = body as { data?: { param: string; resultJson: string } };
	if (path !== DETAILS || !data?.resultJson) return body;
	const { input } = JSON.parse(data.param) as { input: { prompt: string } };
	const [, , build] = SHAPES.find(([prompt]) => prompt === input.prompt) ?? [];
	if (!build) return body;
	const { resultUrls } = JSON.parse(data.resultJson) as { resultUrls: [string, string, string] };
	const { resultJson, ...others } = build(...resultUrls) as Record<string, unknown>;
	return {
		...rest,
		data: { ...data, resultJson: resultJson && JSON.stringify(resultJson), ...others },
	};
}

/** A model of the emulator, whose document requires a callback URL here. */
const NEEDS_CALLBACK = 'zeta-canvas-4.0';

const DOCUMENT = {
	paths: {
		'/api/v1/jobs/createTask': {
			post: {
				requestBody: {
					content: {
						'application/json': {
							schema: {
								required: ['model', 'callBackUrl', 'input'],
								properties: {
									callBackUrl: { type: 'string' },
									input: { properties: { prompt: { type: 'string' } } },
								},
							},
						},
					},
				},
			},
		},
	},
};

const pair = usePair({
	service: {
		taskSeconds: 1.5,
		credits: 1e6,
		callbackRetrySeconds: [0.5, 1, 1, 2, 4],
		rewrite: reshape,
		documents: { [NEEDS_CALLBACK]: DOCUMENT },
	},
});

/** Builds a workflow that creates a task for each prompt and waits for all. */
const build = (texts: string[], parameters: Record<string, unknown> = {}) =>
	chain('What comes back', [prompts(texts), createAndWait(parameters)]);

const COMPLETED = { status: 'completed' };
const FAILED = { status: 'failed' };

describe('links to results that lead nowhere', () => {
	const LINKS = ['blank', 'blankText', 'relative', 'dead'];

	it.each(['callback', 'polling'])(
		'by %s, cost no task, and nothing waits for them',
		async (waitFor) => {
			const texts = ['good', ...LINKS.map((links) => `#links=${links}`)];
			const wait = { waitFor, downloadResults: true, waitLimit: 1 };
			const execution = await pair.run(build(texts, wait));
			expect(execution.status).toBe('success');
			const tasks = execution.getItems<Task & { downloadError?: string }>(NODE);
			expect(pair.readPrompts(tasks)).toEqual(texts);
			expect(tasks).toMatchObject(texts.map(() => COMPLETED));
			const files = execution.getOutput(NODE).map(({ binary = {} }) => Object.keys(binary).length);
			expect(files).toEqual([1, 0, 0, 0, 0]);
			for (const { downloadError } of tasks.slice(3))
				expect(downloadError).toEqual(expect.any(String));
			if (waitFor === 'callback')
				// n8n itself answers 409 if another callback has continued the execution.
				for (const statuses of pair.listAnswers(texts))
					expect([200, 409]).toContain(statuses.at(-1));
		},
	);

	it('let the execution go on by the callback of the only task', async () => {
		const execution = await pair.run(build(['#links=blank'], { downloadResults: true }));
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: pair.listIds()[0], ...COMPLETED }]);
	});
});

describe('results of other shapes', () => {
	it.each(['callback', 'polling'])(
		'by %s, bring each task its own links and files',
		async (waitFor) => {
			pair.service.set({ faultsFor: () => ({ files: 3, fileSize: SIZE }) });
			const texts = SHAPES.map(([prompt]) => prompt);
			const wait = { waitFor, downloadResults: true, waitLimit: 1 };
			const execution = await pair.run(build(texts, wait));
			const output = await Promise.all(
				execution.getOutput(NODE).map(async ({ json, binary = {} }) => {
					const bytes = Object.values(binary).map((file) => pair.n8n.readBinary(file));
					return { ...json, files: (await Promise.all(bytes)).map(String) };
				}),
			);
			expect(output).toMatchObject(
				SHAPES.map(([prompt, results]) => {
					const taskId = pair.findId(prompt);
					const links = `${pair.service.resultsUrl}/results/${taskId}`;
					return {
						taskId,
						...COMPLETED,
						resultUrls: results.map((at) => `${links}/result${at ? `-${at + 1}` : ''}.mp4`),
						files: results.map((at) => String(buildResultBytes(taskId, at, SIZE))),
					};
				}),
			);
		},
	);
});

describe('a model whose description requires a callback URL', () => {
	const customModel = { __rl: true, mode: 'id', value: NEEDS_CALLBACK };
	const byJson = { customModel, inputMode: 'json' };
	let byFields: Record<string, unknown>;

	// The fields are what the editor stores when the model is chosen.
	beforeAll(async () => {
		const path = '/rest/dynamic-node-parameters/resource-mapper-fields';
		const { fields } = await pair.n8n.request<{ fields: object[] }>('POST', path, {
			path: 'parameters.customFields',
			methodName: 'getModelFields',
			nodeTypeAndVersion: { name: NODE_TYPE, version: 1.1 },
			currentNodeParameters: { model: 'custom', customModel },
			credentials: { mediaGenerationApi: pair.credential },
		});
		expect(fields).toContainEqual(expect.objectContaining({ id: '$schema' }));
		const customFields = { mappingMode: 'defineBelow', value: {}, schema: fields };
		byFields = { customModel, inputMode: 'fields', prompt: '={{ $json.prompt }}', customFields };
	});

	it.each([
		['Keep Asking', { waitFor: 'polling' }, "Set 'How to Wait' to Sleep Until Notified"],
		[
			'Start Without Waiting, without a Callback URL',
			{ operation: 'create', callbackUrl: '' },
			"Fill in 'Callback URL', or use Generate",
		],
	])('is not paid for with %s', async (_, parameters, advice) => {
		for (const chosen of [byFields, byJson]) {
			const execution = await pair.run(build(['one', 'two'], { ...chosen, ...parameters }));
			const error = execution.readError();
			expect(error).toContain(`The model ${NEEDS_CALLBACK} needs a callback URL`);
			expect(error).toContain(`Nothing was created. ${advice}`);
		}
		expect(pair.countCreations()).toBe(0);
	});

	it('is paid for once and completes with Sleep Until Notified', async () => {
		const execution = await pair.run(build(['one'], { ...byFields, waitFor: 'callback' }));
		const taskIds = pair.listIds();
		expect(taskIds).toHaveLength(1);
		expect(execution.getItems(NODE)).toMatchObject([{ taskId: taskIds[0], ...COMPLETED }]);
	});
});

describe('states and codes that are an end', () => {
	const STATES = ['canceled', 'cancelled', 'expired', 'timeout', 'rejected', 'error'];
	const ENDS: Array<[prompt: string, output: Record<string, unknown>]> = [
		...STATES.map((state): [string, Record<string, unknown>] => [
			`#fail #end=${state}`,
			{ ...FAILED, state },
		]),
		['#detailsCode=501', { ...FAILED, failCode: '501' }],
		['#detailsCode=408', { ...FAILED, failCode: '408' }],
		['#detailsCode=501 #detailsRecord #fail', { ...FAILED, state: 'fail', failCode: '501' }],
		['#detailsCode=501 #detailsRecord', { ...COMPLETED, state: 'success' }],
	];

	it.each(['callback', 'polling'])('by %s, come out as what they are', async (waitFor) => {
		const texts = ENDS.map(([text]) => text);
		const execution = await pair.run(build(texts, { waitFor, waitLimit: 1 }));
		const tasks = execution.getItems<Task>(NODE);
		expect(pair.readPrompts(tasks)).toEqual(texts);
		expect(tasks).toMatchObject(ENDS.map(([, output]) => output));
	});
});

describe('a sub-workflow that runs once for each item', () => {
	it('returns to each item its own result', async () => {
		const inner = connect('Inner', [WHEN_CALLED, createAndWait()]);
		const { id } = await pair.importWorkflow(inner);
		await pair.n8n.activate(id);
		const texts = ['one #slow=3', 'three', 'two #slow=2'];
		const outer = chain('Outer', [prompts(texts), callWorkflow(id, 'each'), SEEN]);
		const execution = await pair.run(outer);
		const tasks = execution.getItems<Task>('Call');
		expect(tasks).toMatchObject(texts.map(() => COMPLETED));
		expect(pair.readPrompts(tasks)).toEqual(texts);
		expect(execution.getItems('Seen')).toEqual(texts.map((prompt) => ({ prompt, ...COMPLETED })));
		expect(pair.listPrompts()).toEqual(texts);
	});
});

describe('details that take longer than a callback may', () => {
	it('bring the task, as Timeout allows them to', async () => {
		pair.service.set({ taskSeconds: 2 });
		const workflow = build(['one'], { options: { tasksPer10Seconds: 0, timeoutSeconds: 30 } });
		const id = await pair.park(workflow);
		pair.service.faultNext({ path: DETAILS, delaySeconds: 6, times: 3 });
		const execution = await pair.n8n.waitForExecution(id);
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
	});
});
