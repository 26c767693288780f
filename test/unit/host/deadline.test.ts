import { readDeadline } from '../../../nodes/MediaGeneration/host/deadline';
import { buildContext } from '../n8n';

const NOW = 1_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

/** n8n's own deadline is so many seconds from now. */
const n8n = (seconds: number) => ({
	additionalData: { executionTimeoutTimestamp: NOW + seconds * 1_000 },
});

it.each<[string, number | undefined, object, number]>([
	["n8n's own, where the context has it", undefined, n8n(5), 5],
	["n8n's own, whatever the setting", 60, n8n(5), 5],
	["by the workflow's setting from now, where it has not", 60, {}, 60],
	['none without a setting', undefined, { additionalData: {} }, Infinity],
	['none with the setting -1', -1, {}, Infinity],
])('the deadline of an execution is %s', (_, executionTimeout, more, seconds) => {
	const getWorkflowSettings = () => ({ executionTimeout });
	const deadline = readDeadline(buildContext({}, { getWorkflowSettings, ...more }));
	expect((deadline - NOW) / 1_000).toBe(seconds);
});
