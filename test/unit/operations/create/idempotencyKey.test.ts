import type { CreateTaskRequest } from '../../../../nodes/MediaGeneration/api/client';
import { buildIdempotencyKey } from '../../../../nodes/MediaGeneration/operations/create/idempotencyKey';
import { openRecord } from '../../../../nodes/MediaGeneration/operations/record/openRecord';
import { buildContext, type Run, prepare } from '../../n8n';

const BODY = { model: 'a/model', input: { prompt: 'Night' } };
const OTHER = { ...BODY, input: { prompt: 'Day' } };
const UNKNOWN = { message: 'The service broke off' };

interface Creation {
	item?: number;
	account?: string;
	body?: CreateTaskRequest;
	/** In the credential. */
	header?: string;
}

/** Makes the key of a creation by a run of the node, whose context n8n keeps. */
function buildKey(kept: object, run: Run = {}, creation: Creation = {}): string | undefined {
	const context = buildContext({ kept, ...run });
	const { item = 0, account = 'mine', body = BODY, header = 'Idempotency-Key' } = creation;
	const credentials = { accessToken: account, advancedSettings: true, idempotencyHeader: header };
	const { item: read } = prepare(context, item, { credentials });
	return buildIdempotencyKey(openRecord(context), read, body);
}

it.each<[string, Run, Creation]>([
	['execution', { executionId: '2' }, {}],
	['run', { run: 1 }, {}],
	['item', {}, { item: 1 }],
	['account', {}, { account: 'yours' }],
	['body', {}, { body: OTHER }],
])('an idempotency key differs for another %s, and stays the same for one', (_, run, creation) => {
	const kept = {};
	const key = buildKey(kept);
	expect(key).toMatch(/^[\w-]{1,128}$/);
	expect(buildKey(kept)).toBe(key);
	expect(buildKey(kept, run, creation)).not.toBe(key);
});

it('an idempotency key stays the same from one version of the package to the next', () => {
	expect(buildKey({})).toBe('E3Dg0WhXA_EeLfvgP7hXnN');
});

it('there is no idempotency key without a header for it', () => {
	expect(buildKey({}, {}, { header: '' })).toBeUndefined();
});

it('an idempotency key is random without an execution, so that no call gets the task of another', () => {
	const agent: Run = { kept: null, executionId: '', type: 'nodeTool' };
	expect(buildKey({}, agent)).not.toBe(buildKey({}, agent));
});

it('an idempotency key stays that of the first sending while retries do not learn its outcome', () => {
	const kept = {};
	const [known, first] = [0, 1].map((item) => buildKey(kept, {}, { item }));
	const send = (run: Run) => openRecord(buildContext({ kept, ...run }));
	send({}).addTask(0, BODY, 'task');
	send({}).addUnknown(1, BODY, UNKNOWN);
	const retry: Run = { executionId: '2' };
	expect(buildKey(kept, retry, { item: 1 })).toBe(first);
	expect(buildKey(kept, retry, { item: 0 })).not.toBe(known);
	send(retry).addUnknown(1, BODY, UNKNOWN);
	expect(buildKey(kept, { executionId: '3' }, { item: 1 })).toBe(first);
});
