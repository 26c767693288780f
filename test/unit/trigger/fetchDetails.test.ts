import { UserError } from 'n8n-workflow';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { FailureKind } from '../../../nodes/MediaGeneration/api/service';
import { fetchDetails } from '../../../nodes/MediaGeneration/trigger/fetchDetails';
import { fail } from '../fail';

const task = { taskId: 'task', status: 'completed' };

/** Asks a service that answers each request in turn, and then as the last time. */
async function fetch(answers: unknown[]) {
	const asked: unknown[] = [];
	const service = {
		async getTask(...request: unknown[]) {
			const answer = answers[Math.min(asked.push(request), answers.length) - 1];
			if (answer instanceof Error) throw answer;
			return await (answer as Promise<unknown>);
		},
	} as unknown as TaskService;
	const begun = Date.now();
	const details = fetchDetails(service, 'task', begun + 5_000).then((outcome) => ({
		...outcome,
		after: Date.now() - begun,
	}));
	await jest.advanceTimersByTimeAsync(5_000);
	for (const request of asked) expect(request).toEqual(['task', { timeoutSeconds: 4 }]);
	return { ...(await details), requests: asked.length };
}

const words = { what: 'It failed', next: 'Check it.' };
const refuse = (kind: FailureKind, code: number, answeredBy: 'service' | 'other') =>
	fail(kind, { ...words, code, answeredBy });

jest.useFakeTimers();

const once = { requests: 1, after: 0 };
const fetched = { outcome: 'fetched', task, ...once };
const down = { outcome: 'down', ...once };
const message = 'It failed. Check it.';
const later = { ...down, message };
const unreadable = { outcome: 'unreadable', message, ...once };
const isUnknown = fail('unknownTask', words);
const unknown = { outcome: 'unknown', message: 'It failed', requests: 3, after: 3_000 };

it.each<[string, unknown[], object]>([
	['are there', [task], fetched],
	['come a second later', [isUnknown, task], { ...fetched, requests: 2, after: 1_000 }],
	[
		'come three seconds later',
		[isUnknown, isUnknown, task],
		{ ...fetched, requests: 3, after: 3_000 },
	],
	['are of an unknown task', [isUnknown], unknown],
	[
		'are of an unknown task, and then do not come',
		[isUnknown, new Promise(() => {})],
		{ ...unknown, requests: 2, after: 5_000 },
	],
	['do not come', [new Promise(() => {})], { ...down, after: 5_000 }],
	['are not answered', [fail('lost', words)], later],
	['are a fault of our own', [new Error('fault')], down],
	['are refused for now', [refuse('rate', 430, 'service')], later],
	['are refused for good', [refuse('token', 401, 'service')], unreadable],
	['have no path', [refuse('notFound', 404, 'other')], unreadable],
	['have no address', [new UserError('No URL')], { ...unreadable, message: 'No URL' }],
])('details that %s', async (_, answers, expected) => {
	expect(await fetch(answers)).toEqual(expected);
});
