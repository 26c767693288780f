import { refuseCallback } from '../../../nodes/MediaGeneration/callback/respond';
import { TRIGGER_REFUSALS } from '../../../nodes/MediaGeneration/trigger/refusals';
import { WAKE_REFUSALS } from '../../../nodes/MediaGeneration/run/answers';
import { buildWebhook, makeResponse } from '../n8n';

const REFUSALS = { ...TRIGGER_REFUSALS, ...WAKE_REFUSALS };

let nodes = 0;

/** A node that refuses callbacks, and its lines in the log. */
function newNode() {
	const id = `node-${nodes++}`;
	const lines: string[] = [];
	const response = makeResponse();
	const logger = { warn: (line: string, meta: object) => lines.push(line + JSON.stringify(meta)) };
	const more = { logger, getNode: () => ({ name: 'Trigger', id }) };
	const context = buildWebhook({ taskId: 'task', more }, response);
	return { lines, response, refuse: refuseCallback.bind(undefined, context, REFUSALS) };
}

jest.useFakeTimers();

it.each<[string, number | undefined, string | undefined]>([
	['; 3600 s behind the clock here', -3600, undefined],
	['; 0 s ahead of the clock here', 0, undefined],
	['; no database', undefined, 'no database'],
	['', undefined, undefined],
])('a refusal is logged with its reason, and%s', (words, clockDifferenceSeconds, cause) => {
	const node = newNode();
	node.refuse({ reason: 'timestampStale', clockDifferenceSeconds, cause });
	expect(node.lines).toEqual([
		`"Trigger" refused a callback: X-Webhook-Timestamp is too far from the present time (401 timestampStale${words}). To find out more, use Verify Callback of the Media Generation node.{"workflowId":"workflow"}`,
	]);
});

it('a flood is logged once a minute for each reason and node, and the others are counted', () => {
	const [one, other] = [newNode(), newNode()];
	for (let second = 0; second < 60; second++) {
		one.refuse({ reason: 'timestampStale' });
		one.refuse({ reason: 'signatureWrong' });
		jest.advanceTimersByTime(1000);
	}
	other.refuse({ reason: 'timestampStale' });
	expect([one.lines.length, other.lines.length]).toEqual([2, 1]);
	one.refuse({ reason: 'timestampStale' });
	expect(one.lines.slice(2)).toEqual([expect.stringContaining('59 more since the last line')]);
});

it('the sender is told the reason, but not its cause, which is for the log', () => {
	const { lines, response, ...node } = newNode();
	const reason = 'taskNotInExecution';
	expect(node.refuse({ reason, cause: 'a cause' })).toEqual({ noWebhookResponse: true });
	const answer = { accepted: false, reason, message: expect.not.stringContaining('cause') };
	expect(response).toMatchObject({ statusCode: 404, answer });
	expect(lines).toEqual([expect.stringContaining('a cause')]);
});
