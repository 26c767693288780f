import { editImage, useService } from '../../engine';

const engine = useService({ taskSeconds: 0.1 });

it('outputs each task in its place with its file, and says what they cost', async () => {
	const items = ['one', '#fail', 'three'].map((prompt) => ({ prompt }));
	const runGenerate = { ...editImage, operation: 'generate', options: { howToWait: 'polling' } };
	const { output, hints } = await engine.run(runGenerate, { items });
	expect(output.map(({ binary }) => Object.keys(binary ?? {}))).toEqual([['data'], [], ['data']]);
	expect(output).toMatchObject(
		['completed', 'failed', 'completed'].map((status, item) => {
			const { taskId } =
				engine.listTasks().find(({ input }) => input.prompt === items[item]?.prompt) ?? {};
			return { json: { taskId, status }, pairedItem: { item } };
		}),
	);
	expect(hints).toEqual([
		expect.stringMatching(/^1 of 3 tasks failed: ./),
		'3 tasks consumed 37.5 credits.',
	]);
});
