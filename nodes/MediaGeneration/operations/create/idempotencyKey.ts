import { randomUUID } from 'crypto';
import type { CreateTaskRequest } from '../../api/client';
import { readIdempotencyHeader } from '../../api/endpoints';
import { digest } from '../../lib/json';
import type { Item } from '../operation';
import type { RunRecord } from '../record/runRecord';

/**
 * Makes a creation's idempotency key: the same for the same item, account and body of a run, in all
 * tries, save where a failed task is created again; random without an execution; undefined if the
 * credential names no header for it.
 */
export function buildIdempotencyKey(
	record: RunRecord,
	{ index, context, service }: Item,
	body: CreateTaskRequest,
): string | undefined {
	if (!readIdempotencyHeader(service.credentials)) return undefined;
	const { origin, before = [] } = record.findOrigin(index);
	if (!origin) return randomUUID();
	const node = [context.getInstanceId(), context.getWorkflow().id, origin, context.getNode().id];
	const place = [record.run, index, service.account, body];
	return digest([...node, ...place, ...(before.length ? [before.length] : [])]);
}
