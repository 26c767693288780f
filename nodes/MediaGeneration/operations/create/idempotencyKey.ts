import { randomUUID } from 'crypto';
import type { CreateTaskRequest } from '../../api/client';
import { readIdempotencyHeader } from '../../api/endpoints';
import { digest } from '../../lib/json';
import type { Item } from '../operation';
import type { RunRecord } from '../record/runRecord';

/**
 * Makes a creation's idempotency key: the same for the same item, account and body of a run, in all
 * tries; random without an execution; undefined if the credential names no header for it.
 */
export function buildIdempotencyKey(
	record: RunRecord,
	{ index, context, service }: Item,
	body: CreateTaskRequest,
): string | undefined {
	if (!readIdempotencyHeader(service.credentials)) return undefined;
	const origin = record.findOrigin(index);
	if (!origin) return randomUUID();
	const node = [context.getInstanceId(), context.getWorkflow().id, origin, context.getNode().id];
	return digest([...node, record.run, index, service.account, body]);
}
