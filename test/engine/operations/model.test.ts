import { useService } from '../engine';

const engine = useService();

it('Get Many and Get Fields output items for each input item, paired with it', async () => {
	const search = {
		resource: 'model',
		operation: 'getMany',
		search: '={{ $json.words }}',
		limit: 2,
	};
	const items = [{ words: 'epsilon canvas' }, { words: 'no such model' }, { words: 'image' }];
	const many = await engine.run(search, { items });
	expect(many.output).toMatchObject([
		{ json: { model: 'epsilon-canvas/text-to-image' }, pairedItem: { item: 0 } },
		{ json: { type: expect.stringMatching(/image/i) as string }, pairedItem: { item: 2 } },
		{ json: { type: expect.stringMatching(/image/i) as string }, pairedItem: { item: 2 } },
	]);

	const fields = { resource: 'model', operation: 'getFields', anyModel: '={{ $json.model }}' };
	const models = many.output.slice(0, 1).map(({ json }) => json);
	const { output } = await engine.run(fields, { items: models });
	expect(output).toHaveLength(5);
	expect(output[0]).toMatchObject({
		json: { name: 'prompt', type: 'string', required: true, maxLength: 3_000 },
		pairedItem: { item: 0 },
	});
});

it('an item with a wrong model is an error item beside the fields of the others', async () => {
	const fields = { resource: 'model', operation: 'getFields', anyModel: '={{ $json.model }}' };
	const items = [{ model: 'no-such-model' }, { model: 'eta-upscale' }];
	const node = { onError: 'continueRegularOutput' } as const;
	const { output, error } = await engine.run(fields, { items, node });
	expect(error).toBeUndefined();
	const [wrong, ...others] = output;
	expect(JSON.stringify(wrong)).toContain('lists no model \\"no-such-model\\"');
	expect(others.length).toBeGreaterThan(0);
	for (const { pairedItem } of others) expect(pairedItem).toEqual({ item: 1 });
});
