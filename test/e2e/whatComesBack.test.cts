import { expect } from '@jest/globals';
import {
	chain,
	createAndWait,
	mediaGeneration,
	NODE,
	NODE_TYPE,
	prompts,
} from '../../dev/fixtures/workflows.cts';
import { buildPost, TASK_PATH } from '../../dev/service/catalogue.cts';
import type { Task } from '../../nodes/MediaGeneration/api/task.ts';
import { DETAILS, usePair } from './support.cts';

/** A model of the emulator, whose document requires a callback URL here. */
const NEEDS_CALLBACK = 'zeta-canvas-4.0';

const DOCUMENT = {
	paths: {
		[TASK_PATH]: buildPost({
			required: ['model', 'callBackUrl', 'input'],
			properties: {
				callBackUrl: { type: 'string' },
				input: { properties: { prompt: { type: 'string' } } },
			},
		}),
	},
};

const pair = usePair({
	service: {
		taskSeconds: 1.5,
		credits: 1e6,
		callbackRetrySeconds: [0.5, 1, 1, 2, 4],
		documents: { [NEEDS_CALLBACK]: DOCUMENT },
	},
});

/** Builds a workflow that creates a task for each prompt and waits for all. */
const build = (texts: string[], parameters: Record<string, unknown> = {}) =>
	chain('What comes back', [prompts(texts), createAndWait(parameters)]);

const COMPLETED = { status: 'completed' };
const FAILED = { status: 'failed' };

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
		['Keep Asking', { waitFor: 'polling' }],
		['Start Without Waiting, without a Callback URL', { operation: 'create', callbackUrl: '' }],
	])('is not paid for with %s', async (_, parameters) => {
		for (const chosen of [byFields, byJson]) {
			const execution = await pair.run(build(['one', 'two'], { ...chosen, ...parameters }));
			const error = execution.readError();
			expect(error).toContain(`The model ${NEEDS_CALLBACK} needs a callback URL`);
			expect(error).toMatch(/Nothing was created.*Sleep Until Notified.*'Callback URL'/);
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
	const ENDS: Array<[prompt: string, output: Record<string, unknown>]> = [
		['#fail #end=canceled', { ...FAILED, state: 'canceled' }],
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

/** It answers 404 to paths of the credential. */
describe('a service that has not all paths', () => {
	const PATHS = /Base URL.*endpoint paths/;

	it('without credits, creates and waits, and says what to check where the credits are asked for', async () => {
		pair.service.set({ balance: false });
		const credits = mediaGeneration({ resource: 'account', operation: 'getCredits' });
		const nodes = [createAndWait({ downloadResults: true }), { ...credits, name: 'Credits' }];
		const execution = await pair.runNodes(prompts(['one']), ...nodes);
		expect(execution.getItems(NODE)).toMatchObject([COMPLETED]);
		expect(Object.keys(execution.getOutput(NODE)[0]?.binary ?? {})).toEqual(['data']);
		expect(execution.readError()).toMatch(PATHS);
	});

	it.each(['callback', 'polling'])(
		'without details, by %s, brings the ID out at the limit, with the reason',
		async (waitFor) => {
			pair.service.set({ details: false });
			const execution = await pair.run(build(['one'], { waitFor, waitLimit: 0.1 }));
			const lookError = expect.stringMatching(/not JSON|404|not the expected/);
			expect(execution.getItems(NODE)).toMatchObject([
				{ taskId: pair.listIds()[0], status: 'timedOut', lookError },
			]);
			expect(pair.countCreations()).toBe(1);
		},
	);

	it('without creation, says what to check, and sends no item after the first', async () => {
		pair.service.set({ creation: false });
		const texts = ['one', 'two', 'three'];
		const execution = await pair.run(build(texts, { options: { concurrency: 1 } }));
		expect(execution.readError()).toMatch(PATHS);
		expect(pair.countCreations()).toBe(1);
		expect(pair.service.tasks.size).toBe(0);
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
