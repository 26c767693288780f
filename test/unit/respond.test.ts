import type { IWebhookFunctions } from 'n8n-workflow';
import { logRefusal } from '../../nodes/MediaGeneration/callback/webhook';
import { ENOUGH_CALLBACKS, noteMatchingSecret } from '../../nodes/MediaGeneration/trigger/receive';

const stale = {
	status: 401,
	reason: 'timestampStale',
	message: 'Too far from the present time',
	clockDifferenceSeconds: -3600,
};

/** A node with the given id, and what it logs. */
function nodeWithLog(id: string) {
	const lines: string[] = [];
	const context = {
		logger: { warn: (line: string) => lines.push(line) },
		getNode: () => ({ name: 'Trigger', id }),
		getWorkflow: () => ({ id: 'workflow' }),
	} as unknown as IWebhookFunctions;
	return { context, lines };
}

describe('logRefusal', () => {
	beforeEach(() => void jest.useFakeTimers());
	afterEach(() => void jest.useRealTimers());

	it.each([
		[-3600, '; 3600 s behind the clock here'],
		[3600, '; 3600 s ahead of the clock here'],
		[undefined, ''],
	])('says why, and by %j s that the clocks are apart', (clockDifferenceSeconds, difference) => {
		const { context, lines } = nodeWithLog(`a${clockDifferenceSeconds}`);
		logRefusal(context, { ...stale, clockDifferenceSeconds });
		expect(lines).toEqual([
			`"Trigger" refused a callback: Too far from the present time (401 timestampStale${difference}). To find out more, use Task: Verify Callback of the Media Generation node.`,
		]);
	});

	it('logs a flood once a minute for each reason and node, and counts the others', () => {
		const { context, lines } = nodeWithLog('b');
		const other = nodeWithLog('c');
		const wrong = { status: 401, reason: 'signatureWrong', message: 'Wrong' };
		for (let second = 0; second < 60; second++) {
			logRefusal(context, stale);
			logRefusal(context, wrong);
			jest.advanceTimersByTime(1000);
		}
		logRefusal(other.context, stale);
		expect(lines).toHaveLength(2);
		expect(other.lines).toHaveLength(1);
		logRefusal(context, stale);
		expect(lines).toHaveLength(3);
		expect(lines[2]).toContain('; 59 more since the last line');
	});
});

describe('noteMatchingSecret', () => {
	function note(trigger: string, keys: { current: string; previous?: string }) {
		const lines: string[] = [];
		return {
			lines,
			matched: (key: 'current' | 'previous', times: number) => {
				for (let time = 0; time < times; time++)
					noteMatchingSecret({ info: (line: string) => lines.push(line) }, trigger, keys, key);
			},
		};
	}

	it('says once that the previous key is no longer used, after enough callbacks in a row', () => {
		const { lines, matched } = note('a', { current: 'new', previous: 'old' });
		matched('current', ENOUGH_CALLBACKS - 1);
		matched('previous', 1);
		matched('current', ENOUGH_CALLBACKS - 1);
		expect(lines).toEqual([]);
		matched('current', 100);
		expect(lines).toEqual([expect.stringContaining("clear 'Previous Webhook HMAC Key'")]);
	});

	it('says nothing when there is no previous key', () => {
		const { lines, matched } = note('b', { current: 'new' });
		matched('current', 100);
		expect(lines).toEqual([]);
	});
});
