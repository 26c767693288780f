import type { IWebhookFunctions } from 'n8n-workflow';
import { logRefusal } from '../../nodes/MediaGeneration/trigger/refusals';
import { ENOUGH_CALLBACKS, noteKey } from '../../nodes/MediaGeneration/trigger/rotation';

const stale = {
	status: 401,
	reason: 'timestampStale',
	message: 'Too far from the present time',
	clockDifferenceSeconds: -3600,
};

function contextWithLog() {
	const lines: string[] = [];
	const context = {
		logger: { warn: (line: string) => lines.push(line) },
		getNode: () => ({ name: 'Trigger' }),
		getWorkflow: () => ({ id: 'workflow' }),
	} as unknown as IWebhookFunctions;
	return { context, lines };
}

describe('logRefusal', () => {
	it('says why, and how far the clocks are apart', () => {
		const { context, lines } = contextWithLog();
		logRefusal(context, 'a', stale, 1000);
		expect(lines).toEqual([
			'"Trigger" refused a callback: Too far from the present time (401 timestampStale; 3600 s behind the clock here). Task: Verify Callback of the Media Generation node says more.',
		]);
	});

	it('logs a flood once a minute for each reason and trigger, and counts the others', () => {
		const { context, lines } = contextWithLog();
		const wrong = { status: 401, reason: 'signatureWrong', message: 'Wrong' };
		for (let second = 0; second < 60; second++) {
			logRefusal(context, 'b', stale, 1000 + second);
			logRefusal(context, 'b', wrong, 1000 + second);
		}
		logRefusal(context, 'c', stale, 1059);
		expect(lines).toHaveLength(3);
		logRefusal(context, 'b', stale, 1060);
		expect(lines).toHaveLength(4);
		expect(lines[3]).toContain('59 more since the last line');
	});
});

describe('noteKey', () => {
	function note(trigger: string, keys: { current: string; previous?: string }) {
		const lines: string[] = [];
		return {
			lines,
			matched: (key: 'current' | 'previous', times: number) => {
				for (let time = 0; time < times; time++)
					noteKey({ info: (line: string) => lines.push(line) }, trigger, keys, key);
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
		expect(lines).toEqual([expect.stringContaining('clear Previous Webhook HMAC Key')]);
	});

	it('says nothing when there is no previous key', () => {
		const { lines, matched } = note('b', { current: 'new' });
		matched('current', 100);
		expect(lines).toEqual([]);
	});
});
