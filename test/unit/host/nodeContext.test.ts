import { getNodeContext } from '../../../nodes/MediaGeneration/host/nodeContext';
import { buildContext } from '../context';

it('the context of a node is what n8n keeps with its execution, if there is one', () => {
	const kept = {};
	expect(getNodeContext(buildContext({ kept }))).toBe(kept);
	expect(getNodeContext(buildContext({ kept: null }))).toBeUndefined();
});
