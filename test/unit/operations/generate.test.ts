import { NodeHelpers, type INodeProperties } from 'n8n-workflow';
import { MediaGeneration } from '../../../nodes/MediaGeneration/MediaGeneration.node';
import { readOption } from '../../../nodes/MediaGeneration/models/field';
import { generateOperation } from '../../../nodes/MediaGeneration/operations/generate';
import { buildContext, buildItem, type RunSetup } from '../n8n';

const { description } = new MediaGeneration();
const tool = { ...description, name: `${description.name}Tool` };
const node = { typeVersion: 1.1 };

it.each([description, tool])("'Agent Wait (Minutes)' stays where a workflow has it: %#", (type) => {
	const values = { options: { agentWait: 2 } };
	const kept = NodeHelpers.getNodeParameters(type.properties, values, true, false, node, type);
	expect(kept).toMatchObject(values);
});

it('each number in Options of the node has a range, which holds its default', () => {
	const numbers = description.properties
		.filter(({ name }) => name === 'options')
		.flatMap(({ options = [] }) => options as INodeProperties[])
		.filter(({ type }) => type === 'number');
	expect(numbers.length).toBeGreaterThan(8);
	for (const property of numbers) {
		// n8n would change silently to `minValue` what is below: a shape refuses it.
		const range = {
			minValue: expect.any(Number) as number,
			maxValue: expect.any(Number) as number,
		};
		if (!/^(agentWait|waitLimit)$/.test(property.name))
			expect(property.typeOptions).toMatchObject(range);
		expect(readOption(() => property.default, property)).toBe(property.default);
	}
});

/** Reads how a run with these entries of Options waits. */
const readSettings = (options: Record<string, unknown> = {}, run: RunSetup = {}) =>
	generateOperation.readSettings?.(buildItem(buildContext(run), 0, { options }));

describe('the settings of a wait', () => {
	const MINUTE = 60_000;
	const usual = {
		howToWait: 'automatic',
		waitLimit: 30 * MINUTE,
		timeoutSeconds: 1,
		perFile: false,
		failedTasks: 'error',
		downloads: { field: 'data', maxBytes: 2048 * 1024 ** 2 },
	};
	const AGENT = { type: 'nodeTool' };
	const forAgent = { downloads: undefined, waitLimit: 10 * MINUTE };
	const film = { outputBinaryField: ' film ', maxSizeMegabytes: 1 };
	it.each<[string, Record<string, unknown>, RunSetup, object]>([
		['defaults', { agentWait: 0, outputBinaryField: ' ' }, {}, {}],
		[
			'a way to wait, and a limit',
			{ howToWait: 'polling', waitLimit: 0.5 },
			{},
			{ howToWait: 'polling', waitLimit: 30_000 },
		],
		['no downloads', { downloadResults: false }, {}, { downloads: undefined }],
		['none for an agent, and its limit', {}, AGENT, forAgent],
		[
			"an agent's own limit",
			{ agentWait: 2, waitLimit: 0 },
			AGENT,
			{ ...forAgent, waitLimit: 2 * MINUTE },
		],
		['failed tasks that are output', { failedTasks: 'output' }, {}, { failedTasks: 'output' }],
		['One per File', { outputItems: 'perFile' }, {}, { perFile: true }],
		['files', film, {}, { downloads: { field: 'film', maxBytes: 1024 ** 2 } }],
		[
			'files of any size',
			{ maxSizeMegabytes: 0 },
			{},
			{ downloads: { field: 'data', maxBytes: Infinity } },
		],
	])('have %s', (_, options, run, settings) => {
		expect(readSettings(options, run)).toEqual({ ...usual, ...settings });
	});

	it.each<[Record<string, unknown>, RegExp, RunSetup?]>([
		[{ waitLimit: 0 }, /^'Limit Wait Time \(Minutes\)' in Options must be a number of 0\.01 to/],
		[{ waitLimit: null }, /^'Limit Wait Time.*is blank/],
		[{ howToWait: 'sleep' }, /^'How to Wait'.* one of automatic, callback, polling/],
		[{ failedTasks: 'no' }, /^'Failed Tasks' in Options must be one of error, output/],
		[{ agentWait: 0 }, /^'Agent Wait/, AGENT],
	])('are refused if they are %j', (options, message, run = {}) => {
		expect(() => readSettings(options, run)).toThrow(message);
	});
});
