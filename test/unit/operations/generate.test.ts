import { NodeHelpers } from 'n8n-workflow';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { generate } from '../../../nodes/MediaGeneration/operations/generate';
import { buildContext, type Run, buildItem } from '../n8n';

const { description } = new MediaGeneration();
const tool = { ...description, name: `${description.name}Tool` };
const node = { typeVersion: 1.1 };

it.each([description, tool])("'Agent Wait (Minutes)' stays where a workflow has it: %#", (type) => {
	const values = { options: { agentWait: 2 } };
	const kept = NodeHelpers.getNodeParameters(type.properties, values, true, false, node, type);
	expect(kept).toMatchObject(values);
});

/** Reads how a run with these entries of Options waits. */
const readSettings = (options: Record<string, unknown> = {}, run: Run = {}) =>
	generate.readSettings?.(buildItem(buildContext(run), 0, { options }));

describe('the settings of a wait', () => {
	const MINUTE = 60_000;
	const usual = {
		howToWait: 'automatic',
		limit: 30 * MINUTE,
		timeoutSeconds: 1,
		perFile: false,
		failedTasks: 'error',
		downloads: { field: 'data', maxBytes: 2048 * 1024 ** 2 },
	};
	const AGENT = { type: 'nodeTool' };
	const forAgent = { downloads: undefined, limit: 10 * MINUTE, failedTasks: 'output' };
	const film = { outputBinaryField: ' film ', maxSizeMegabytes: 1 };
	it.each<[string, Record<string, unknown>, Run, object]>([
		['defaults', {}, {}, {}],
		['a way to wait', { howToWait: 'polling' }, {}, { howToWait: 'polling' }],
		['a limit', { waitLimit: 0.5 }, {}, { limit: 30_000 }],
		['no downloads', { downloadResults: false }, {}, { downloads: undefined }],
		['none for an agent, and its limit', {}, AGENT, forAgent],
		["an agent's own limit", { agentWait: 2 }, AGENT, { ...forAgent, limit: 2 * MINUTE }],
		[
			'no limit but its own for an agent',
			{ waitLimit: 0, downloadResults: 'perhaps' },
			AGENT,
			forAgent,
		],
		['failed tasks that are output', { failedTasks: 'output' }, {}, { failedTasks: 'output' }],
		['no errors for an agent', { failedTasks: 'error' }, AGENT, forAgent],
		["none in n8n's Agents", { failedTasks: 'no' }, { kept: null }, { failedTasks: 'output' }],
		['no limit of agents elsewhere', { agentWait: 0 }, {}, {}],
		['One per File', { outputItems: 'perFile' }, {}, { perFile: true }],
		['files', film, {}, { downloads: { field: 'film', maxBytes: 1024 ** 2 } }],
		[
			'files of any size',
			{ maxSizeMegabytes: 0 },
			{},
			{ downloads: { field: 'data', maxBytes: Infinity } },
		],
		['a field where it is blank', { outputBinaryField: ' ' }, {}, {}],
	])('have %s', (_, options, run, settings) => {
		expect(readSettings(options, run)).toEqual({ ...usual, ...settings });
	});

	it.each<[Record<string, unknown>, RegExp, Run]>([
		[
			{ waitLimit: 0 },
			/^'Limit Wait Time \(Minutes\)' in Options must be a number of 0\.01 to/,
			{},
		],
		[{ waitLimit: null }, /^'Limit Wait Time.*is blank/, {}],
		[
			{ howToWait: 'sleep' },
			/^'How to Wait' in Options must be one of automatic, callback, polling/,
			{},
		],
		[{ downloadResults: 'perhaps' }, /^'Download Results' in Options must be true or false/, {}],
		[{ failedTasks: 'no' }, /^'Failed Tasks' in Options must be one of error, output/, {}],
		[{ maxSizeMegabytes: -1 }, /^'Maximum File Size/, {}],
		[{ agentWait: 0 }, /^'Agent Wait/, AGENT],
	])('are refused if they are %j', (options, message, run) => {
		expect(() => readSettings(options, run)).toThrow(message);
	});
});
