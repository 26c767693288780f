import type { IWebhookFunctions } from 'n8n-workflow';
import {
	logRefusal,
	refuse,
	type Reason,
	type Refused,
} from '../../nodes/MediaGeneration/callback/respond';
import { makeResponse } from './webhook';

const stale = { status: 401, reason: 'timestampStale', message: 'Too far from the present time' };
const wrong = { status: 401, reason: 'signatureWrong', message: 'Wrong' };

let nodes = 0;

/** A node that logs refusals, and its lines. */
function newNode() {
	const id = `node-${nodes++}`;
	const lines: string[] = [];
	const response = makeResponse();
	const context = {
		getResponseObject: () => response,
		logger: { warn: (line: string, meta: object) => lines.push(line + JSON.stringify(meta)) },
		getNode: () => ({ name: 'Trigger', id }),
		getWorkflow: () => ({ id: 'workflow' }),
	} as unknown as IWebhookFunctions;
	return {
		lines,
		response,
		log: (refused: Refused) => logRefusal(context, refused),
		refuse: (reason: Reason) => refuse(context, reason),
	};
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it.each([
	[-3600, '; 3600 s behind the clock here'],
	[0, '; 0 s ahead of the clock here'],
	[3600, '; 3600 s ahead of the clock here'],
	[undefined, ''],
])('a refusal is logged with its reason, and its clock difference of %j s', (seconds, words) => {
	const { lines, log } = newNode();
	log({ ...stale, clockDifferenceSeconds: seconds });
	expect(lines).toEqual([
		`"Trigger" refused a callback: Too far from the present time (401 timestampStale${words}). To find out more, use Verify Callback of the Media Generation node.{"workflowId":"workflow"}`,
	]);
});

it('a flood is logged once a minute for each reason and node, and the others are counted', () => {
	const [one, other] = [newNode(), newNode()];
	for (let second = 0; second < 60; second++) {
		one.log(stale);
		one.log(wrong);
		jest.advanceTimersByTime(1000);
	}
	other.log(stale);
	expect([one.lines.length, other.lines.length]).toEqual([2, 1]);
	one.log(stale);
	expect(one.lines.slice(2)).toEqual([expect.stringContaining('; 59 more since the last line')]);
});

it.each<[Reason, number, number]>([
	['resultsUnderWay', 503, 0],
	['taskNotInExecution', 404, 1],
])('the sender is told %s with %d, which makes %d lines in the log', (reason, status, count) => {
	const { lines, response, ...node } = newNode();
	node.refuse(reason);
	expect(response).toMatchObject({ statusCode: status, answer: { accepted: false, reason } });
	expect(lines).toHaveLength(count);
});
