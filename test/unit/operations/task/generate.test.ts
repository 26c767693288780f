import { NodeHelpers } from 'n8n-workflow';
import { MediaGeneration } from '../../../../nodes/MediaGeneration/MediaGeneration.node';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record';
import { generate } from '../../../../nodes/MediaGeneration/operations/task/generate';
import { decideWait } from '../../../../nodes/MediaGeneration/operations/wait/decide';
import { waitForTasks } from '../../../../nodes/MediaGeneration/operations/wait/waitForTasks';
import { buildContext, type Run, buildItem, refuse } from '../../n8n';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/decide');
jest.mock('../../../../nodes/MediaGeneration/operations/wait/waitForTasks');

const { description } = new MediaGeneration();
const tool = { ...description, name: `${description.name}Tool` };
const node = { typeVersion: 1.1 };

it.each([description, tool])("'Agent Wait (Minutes)' stays where a workflow has it: %#", (type) => {
	const values = { options: { agentWait: 2 } };
	const kept = NodeHelpers.getNodeParameters(type.properties, values, true, false, node, type);
	expect(kept).toMatchObject(values);
});

const RESUME_URL = 'https://n8n.example/webhook-waiting/1';
const output = { outcomes: [{ items: [] }] };

interface Options extends Run {
	/** The service's answer: the ID of a task, or an error. */
	answer?: string | Error;
	createTask?: jest.Mock;
}

/** Generates for one item with these entries of Options. */
async function runGenerate(
	options: Record<string, unknown> = {},
	{ answer = 'task', createTask = jest.fn(() => answer), ...run }: Options = {},
) {
	jest.mocked(decideWait).mockResolvedValue({ resumeUrl: RESUME_URL });
	jest.mocked(waitForTasks).mockReset().mockResolvedValue(output);
	const context = buildContext(run);
	const item = buildItem(context, 0, { createTask, options });
	const request = openRecord(context).recall(0) ?? { model: 'model', input: {} };
	const result = await generate.run([{ item, request }], context);
	const [, created, how] = jest.mocked(waitForTasks).mock.calls[0] ?? [];
	return { result, createTask, created, how };
}

describe('a run', () => {
	it('creates tasks that call the resume URL, and waits for them as was decided', async () => {
		const { result, createTask, created, how } = await runGenerate();
		const body = { model: 'model', input: {}, callBackUrl: RESUME_URL };
		expect(createTask).toHaveBeenCalledWith(body, undefined);
		expect(created).toMatchObject([{ task: { taskId: 'task' } }]);
		expect(how).toMatchObject({ decision: { resumeUrl: RESUME_URL } });
		expect(result).toEqual(output);
	});

	it('outputs what there is once an error ends it', async () => {
		const { result, how } = await runGenerate({}, { answer: refuse(422) });
		expect(how).toBeUndefined();
		expect(result).toMatchObject({ outcomes: [{ error: { code: 422 } }] });
	});

	it('polls for tasks of an earlier execution, which the service calls back', async () => {
		const kept = {};
		await runGenerate({}, { kept });
		const { createTask, how } = await runGenerate({}, { kept, executionId: '2' });
		expect(createTask).not.toHaveBeenCalled();
		const reason = expect.stringContaining('created by an earlier execution') as string;
		expect(how?.decision).toEqual({ reason });
	});

	it('keeps its settings when n8n repeats it, whatever its expressions return then', async () => {
		const kept = {};
		const { how } = await runGenerate({}, { kept });
		const again = await runGenerate({ waitLimit: 1 }, { kept });
		expect(again.how?.wait).toBe(how?.wait);
		expect(jest.mocked(decideWait).mock.lastCall?.[1]).toBe('automatic');
	});

	it('that was woken stays awake, whatever would be decided now', async () => {
		const kept = {};
		await runGenerate({}, { kept });
		const sleep = { since: 1, until: 2, input: [], failures: {}, woken: [] };
		openRecord(buildContext({ kept })).sleep(sleep);
		jest.mocked(decideWait).mockClear();
		const { createTask, created, how } = await runGenerate({ howToWait: 'callback' }, { kept });
		expect(decideWait).not.toHaveBeenCalled();
		expect(createTask).not.toHaveBeenCalled();
		expect(created).toMatchObject([{ task: { taskId: 'task' } }]);
		expect(how).toMatchObject({ decision: {}, woken: sleep });
	});

	it('without items does nothing', async () => {
		expect(await generate.run([], buildContext())).toEqual({ outcomes: [] });
	});
});

describe('the settings of a wait', () => {
	const MINUTE = 60_000;
	const usual = {
		howToWait: 'automatic',
		limit: 30 * MINUTE,
		timeoutSeconds: 1,
		perFile: false,
		downloads: { field: 'data', maxBytes: 2048 * 1024 ** 2 },
	};
	const AGENT = { type: 'nodeTool' };
	const film = { outputBinaryField: ' film ', maxSizeMegabytes: 1 };
	it.each<[string, Record<string, unknown>, Options, object]>([
		['defaults', {}, {}, {}],
		['a way to wait', { howToWait: 'polling' }, {}, { howToWait: 'polling' }],
		['a limit', { waitLimit: 0.5 }, {}, { limit: 30_000 }],
		['no downloads', { downloadResults: false }, {}, { downloads: undefined }],
		['none for an agent, and its limit', {}, AGENT, { downloads: undefined, limit: 10 * MINUTE }],
		["an agent's own limit", { agentWait: 2 }, AGENT, { downloads: undefined, limit: 2 * MINUTE }],
		[
			'no limit but its own for an agent',
			{ waitLimit: 0, downloadResults: 'perhaps' },
			AGENT,
			{ downloads: undefined, limit: 10 * MINUTE },
		],
		['no limit of agents elsewhere', { agentWait: 0 }, {}, {}],
		['One per File', { outputItems: 'perFile' }, {}, { perFile: true }],
		['files', film, {}, { downloads: { field: 'film', maxBytes: 1024 ** 2 } }],
		['a field where it is blank', { outputBinaryField: ' ' }, {}, {}],
	])('have %s', async (_, options, run, settings) => {
		const { how } = await runGenerate(options, run);
		expect(how?.wait.settings).toEqual({ ...usual, ...settings });
	});

	it.each<[Record<string, unknown>, RegExp, Options]>([
		[
			{ waitLimit: 0 },
			/^'Limit Wait Time \(Minutes\)' in Options must be a number from 0\.01 to/,
			{},
		],
		[{ waitLimit: null }, /^'Limit Wait Time.*is blank/, {}],
		[
			{ howToWait: 'sleep' },
			/^'How to Wait' in Options must be automatic, callback or polling/,
			{},
		],
		[{ downloadResults: 'perhaps' }, /^'Download Results' in Options must be true or false/, {}],
		[{ maxSizeMegabytes: -1 }, /^'Maximum File Size/, {}],
		[{ agentWait: 0 }, /^'Agent Wait/, AGENT],
	])('keep everything from being created if they are %j', async (options, message, run) => {
		const createTask = jest.fn();
		await expect(runGenerate(options, { ...run, createTask })).rejects.toThrow(message);
		expect(createTask).not.toHaveBeenCalled();
	});
});
