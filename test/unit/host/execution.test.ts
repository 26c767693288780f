import {
	getNodeContext,
	isSingleNode,
	isTool,
} from '../../../nodes/MediaGeneration/host/execution';
import { buildContext, type Run } from '../n8n';

it.each<[Run, boolean]>([
	[{}, false],
	[{ isTool: true }, true],
	[{ type: 'pkg.mediaGenerationTool' }, true],
])('a run %j is a call by an agent: %s', (run, expected) => {
	expect(isTool(buildContext(run))).toBe(expected);
});

it.each([
	['Execute node mediaGeneration', true],
	['Execute node other', false],
	['Pictures', false],
])('a workflow named %s is "Execute node" of the assistant: %s', (name, expected) => {
	expect(isSingleNode(buildContext({}, { getWorkflow: () => ({ name }) }))).toBe(expected);
});

it('the context of a node is what n8n keeps with its execution, if there is one', () => {
	const kept = {};
	expect(getNodeContext(buildContext({ kept }))).toBe(kept);
	expect(getNodeContext(buildContext({ kept: null }))).toBeUndefined();
});
