import { getCredits } from '../../../nodes/MediaGeneration/operations/getCredits';
import { buildContext, buildItem } from '../n8n';

it('outputs the credits of the account', async () => {
	const getCreditsOf = async () => await Promise.resolve(12.5);
	const item = buildItem(buildContext(), 0, { getCredits: getCreditsOf });
	const outcomes = await getCredits.run([{ item, request: undefined }], item.call);
	expect(outcomes).toEqual([{ items: [{ json: { credits: 12.5 } }] }]);
});
