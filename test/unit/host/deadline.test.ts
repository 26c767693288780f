import type { IExecuteFunctions } from 'n8n-workflow';
import { readDeadline } from '../../../nodes/MediaGeneration/host/deadline';

const NOW = 1_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW));
afterEach(() => jest.restoreAllMocks());

/** n8n's own deadline is so many seconds from now. */
const n8n = (seconds: number) => ({
	additionalData: { executionTimeoutTimestamp: NOW + seconds * 1_000 },
});
/** The execution began some seconds ago. */
const began = (secondsAgo: number) => ({
	getExecutionContext: () => ({ establishedAt: NOW - secondsAgo * 1_000 }),
});
const main = { instanceSettings: { instanceType: 'main' } };
const worker = { instanceSettings: { instanceType: 'worker' } };

it.each<[string, number | undefined, object, number]>([
	["n8n's own, where the context has it", undefined, n8n(5), 5],
	["n8n's own, whatever the setting", 60, n8n(5), 5],
	["by the workflow's setting from now, where it has not", 60, {}, 60],
	['none without a setting', undefined, { additionalData: {} }, Infinity],
	['none with the setting -1', -1, {}, Infinity],
	['none for another workflow', undefined, began(20), Infinity],
	['counted with the time slept in regular mode', 60, { ...n8n(60), ...began(30), ...main }, 30],
	['counted without it in queue mode', 60, { ...n8n(60), ...began(30), ...worker }, 60],
	["n8n's own if the run began late", 60, { ...n8n(58), ...began(5), ...main }, 58],
	["n8n's own without a setting", undefined, { ...n8n(5), ...began(30), ...main }, 5],
])('the deadline of an execution is %s', (_, executionTimeout, more, seconds) => {
	const context = { getWorkflowSettings: () => ({ executionTimeout }), ...more };
	const deadline = readDeadline(context as unknown as IExecuteFunctions);
	expect((deadline - NOW) / 1_000).toBe(seconds);
});
