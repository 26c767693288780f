import type { INode, INodeParameters } from 'n8n-workflow';
import { editImage, useService } from '../../engine';

const engine = useService({ taskSeconds: 0.1 });

/** Creates tasks of these prompts and waits for them, by default awake and without their files. */
const wait = async (prompts: string[], parameters: INodeParameters = {}) =>
	await engine.run(
		{
			...editImage,
			operation: 'createAndWait',
			waitFor: 'polling',
			waitLimit: 0.03,
			downloadResults: false,
			...parameters,
		},
		{ items: prompts.map((prompt) => ({ prompt })) },
	);

const findId = (prompt: string) =>
	engine.listTasks().find(({ input }) => input.prompt === prompt)?.taskId;

const TOOL = { type: 'mediaGenerationTool' };

describe('a run that stays awake', () => {
	it('outputs each task in its place, and says what they cost', async () => {
		const { output, hints } = await wait(['one', '#fail', '#neverEnds']);
		expect(output[0]?.map(({ json, pairedItem }) => [json, pairedItem])).toMatchObject(
			[
				['one', 'completed'],
				['#fail', 'failed'],
				['#neverEnds', 'timedOut'],
			].map(([prompt = '', status], item) => [{ taskId: findId(prompt), status }, { item }]),
		);
		expect(output[0]?.map(({ binary }) => binary)).toEqual([undefined, undefined, undefined]);
		expect(output[0]?.[0]?.json).not.toHaveProperty('downloadError');
		expect(hints).toEqual([
			expect.stringMatching(/^1 of 3 tasks failed: ./),
			'1 of 3 tasks has not ended. Look again later with Get.',
			'2 tasks consumed 25 credits.',
		]);
	});

	it.each<[string, Partial<INode>, INodeParameters, string[]]>([
		['brings files when nothing is set', {}, {}, ['data']],
		['brings them in the field of the Options', {}, { outputBinaryField: 'film' }, ['film']],
		['gives an agent links only', TOOL, {}, []],
	])('%s', async (_, node, options, fields) => {
		const parameters = { ...editImage, operation: 'createAndWait', waitFor: 'polling', options };
		const { output } = await engine.run(parameters, { items: [{ prompt: 'one' }], node });
		expect(output[0]).toMatchObject([{ json: { resultUrls: [expect.any(String)] } }]);
		expect(Object.keys(output[0]?.[0]?.binary ?? {})).toEqual(fields);
	});

	it('says what a single task cost, and that one goes on', async () => {
		expect((await wait(['one'])).hints).toEqual(['The task consumed 12.5 credits.']);
		expect((await wait(['#neverEnds'])).hints).toEqual([
			'The task has not ended. Look again later with Get.',
		]);
	});

	it('stops at once when a task could not be created, and names the others', async () => {
		const { error } = await wait(['#neverEnds', '#status=402'], { waitLimit: 30 });
		expect(error?.message).toMatch(/too few credits.*\[item 1\]/);
		expect(error?.description).toContain(`Get: ${findId('#neverEnds')}`);
	});
});

it('a run that sleeps parks its tasks until the limit, without a download', async () => {
	const asleep = { waitFor: 'callback', waitLimit: 5 };
	const { parked, wait: stored } = await wait(['one', 'two'], asleep);
	expect(parked?.map(({ json }) => json)).toMatchObject(
		engine.listTasks().map(({ taskId }) => ({ taskId, status: 'timedOut' })),
	);
	expect(Math.abs(Number(stored?.parkedUntil) - Date.now() - 5 * 60_000)).toBeLessThan(10_000);
	expect(stored?.settings).not.toHaveProperty('downloads');
});
