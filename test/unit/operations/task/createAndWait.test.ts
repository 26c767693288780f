import { NodeHelpers } from 'n8n-workflow';
import { MediaGeneration } from '../../../../nodes/MediaGeneration/MediaGeneration.node';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record';
import { createAndWait } from '../../../../nodes/MediaGeneration/operations/task/createAndWait';
import { decideWait } from '../../../../nodes/MediaGeneration/operations/wait/decideWait';
import { waitForTasks } from '../../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext, type Run } from '../../context';
import { buildItem, refuse } from '../creations';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/decideWait');
jest.mock('../../../../nodes/MediaGeneration/operations/wait/waitForTasks');

const { description } = new MediaGeneration();
const tool = { ...description, name: `${description.name}Tool` };
const node = { typeVersion: 1.1 };

it.each([description, tool])("'Agent Wait (Minutes)' stays where a workflow has it: %#", (type) => {
	const values = { options: { toolWaitLimit: 2 } };
	const kept = NodeHelpers.getNodeParameters(type.properties, values, true, false, node, type);
	expect(kept).toMatchObject(values);
});

const RESUME_URL = 'https://n8n.example/webhook-waiting/1';
const DEFAULTS = { waitFor: 'automatic', waitLimit: 30, downloadResults: true };
const output = { outcomes: [{ items: [] }] };

/** Generates for one item; n8n keeps its context, and the service's answer is a task's ID or an error. */
async function generate({
	run = {},
	parameters = {},
	extra = {},
	answer = 'task',
}: {
	run?: Run;
	parameters?: object;
	extra?: Record<string, unknown>;
	answer?: string | Error;
} = {}) {
	jest.mocked(decideWait).mockResolvedValue({ resumeUrl: RESUME_URL });
	jest.mocked(waitForTasks).mockReset().mockResolvedValue(output);
	const createTask = jest.fn(() => answer);
	const context = buildContext(run);
	const all: Record<string, unknown> = { ...DEFAULTS, ...parameters };
	const item = {
		...buildItem(context, 0, { createTask, options: extra }),
		read: (name: string) => all[name] ?? '',
	};
	const request = openRecord(context).recall(0) ?? { model: 'model', input: {} };
	const result = await createAndWait.run([{ item, request }], context);
	const [, created, how] = jest.mocked(waitForTasks).mock.calls[0] ?? [];
	return { result, createTask, created, how };
}

describe('a run', () => {
	it('creates tasks that call the resume URL, and waits for them as was decided', async () => {
		const { result, createTask, created, how } = await generate();
		expect(createTask).toHaveBeenCalledWith(
			{ model: 'model', input: {}, callBackUrl: RESUME_URL },
			undefined,
		);
		expect(created).toMatchObject([{ task: { taskId: 'task' } }]);
		expect(how).toMatchObject({ decision: { resumeUrl: RESUME_URL } });
		expect(result).toBe(output);
	});

	it('outputs what there is once an error ends it', async () => {
		const { result, how } = await generate({ answer: refuse(422) });
		expect(how).toBeUndefined();
		expect(result).toMatchObject({ outcomes: [{ error: { code: 422 } }] });
	});

	it('polls for tasks of an earlier execution, which the service calls back', async () => {
		const kept = {};
		await generate({ run: { kept } });
		const { createTask, how } = await generate({ run: { kept, executionId: '2' } });
		expect(createTask).not.toHaveBeenCalled();
		expect(how?.decision.resumeUrl).toBeUndefined();
		expect(how?.decision.reason).toContain('created by an earlier execution');
	});

	it('keeps its settings when n8n repeats it, whatever its expressions return then', async () => {
		const kept = {};
		const { how } = await generate({ run: { kept } });
		const again = await generate({ run: { kept }, parameters: { waitLimit: 1 } });
		expect(again.how?.wait).toBe(how?.wait);
		expect(decideWait).toHaveBeenLastCalledWith(
			expect.anything(),
			how?.wait.settings,
			expect.anything(),
		);
	});

	it('without items does nothing', async () => {
		expect(await createAndWait.run([], buildContext())).toEqual({ outcomes: [] });
	});
});

describe('the settings of a wait', () => {
	const MINUTE = 60_000;
	const AGENT: Run = { type: 'nodeTool' };
	const usual = {
		waitFor: 'automatic',
		limit: 30 * MINUTE,
		timeoutSeconds: 1,
		perFile: false,
		downloads: { field: 'data', maxBytes: 2048 * 1024 ** 2 },
	};
	const without = { ...usual, downloads: undefined };
	it.each<[string, Parameters<typeof generate>[0], object]>([
		['have defaults', {}, usual],
		[
			'are what the user set',
			{ parameters: { waitFor: 'polling', waitLimit: 0.5 } },
			{ ...usual, waitFor: 'polling', limit: 30_000 },
		],
		['have no downloads where they are off', { parameters: { downloadResults: false } }, without],
		['have none, and a limit, for an agent', { run: AGENT }, { ...without, limit: 10 * MINUTE }],
		['have no limit of agents elsewhere', { extra: { toolWaitLimit: 2 } }, usual],
		[
			'have the limit that an agent is given',
			{ run: AGENT, extra: { toolWaitLimit: 2 } },
			{ ...without, limit: 2 * MINUTE },
		],
		[
			'have the usual limit for an agent if it is shorter',
			{ run: AGENT, parameters: { waitLimit: 1 } },
			{ ...without, limit: MINUTE },
		],
		['have One per File', { extra: { outputItems: 'perFile' } }, { ...usual, perFile: true }],
		[
			'have the field and limit of files',
			{ extra: { outputBinaryField: ' film ', maxSizeMegabytes: 1 } },
			{ ...usual, downloads: { field: 'film', maxBytes: 1024 ** 2 } },
		],
		['have a field where it is blank', { extra: { outputBinaryField: ' ' } }, usual],
	])('%s', async (_, options, settings) => {
		expect((await generate(options)).how?.wait.settings).toEqual(settings);
	});

	it('that can not be used keep everything from being created', async () => {
		await expect(generate({ parameters: { waitLimit: 0 } })).rejects.toThrow("'Limit Wait Time");
	});
});
