import { getCredits } from '../../../../nodes/MediaGeneration/operations/getCredits';
import { buildContext, buildItem } from '../../n8n';

it('outputs the credits of the account', async () => {
	const context = buildContext();
	const item = buildItem(context, 0, { getCredits: async () => await Promise.resolve(12.5) });
	const outcomes = await getCredits.run([{ item, request: undefined }], context);
	expect(outcomes).toEqual([{ items: [{ json: { credits: 12.5 } }] }]);
});
