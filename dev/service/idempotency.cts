import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { Context } from './index.cts';
import type { TaskOrder } from './models.cts';
import type { TaskRecord } from './tasks.cts';
import { Refusal } from './validation.cts';

/** Remembers what was created with each key, if the settings name a header for it. */
export function createOriginals({ settings, tasks }: Context) {
	const taskIds = new Map<string, string>();

	/** @throws {Refusal} 422 when the key is not one */
	function readKey(headers: IncomingHttpHeaders) {
		const { idempotencyHeader } = settings;
		const key = idempotencyHeader && headers[idempotencyHeader.toLowerCase()];
		if (!key) return undefined;
		if (typeof key === 'string' && key.length <= 128) return key;
		throw new Refusal(422, `${idempotencyHeader} must have 1 to 128 characters`);
	}

	return {
		/**
		 * Finds the task that was created with the key of this request.
		 *
		 * @throws {Refusal} 422 when the key is not one, or was used for another request
		 */
		find(headers: IncomingHttpHeaders, order: TaskOrder) {
			const key = readKey(headers);
			const original = key && tasks.get(taskIds.get(key) ?? '');
			if (!original) return undefined;
			const { model, callBackUrl, input } = original;
			if (isDeepStrictEqual(order, { model, input, ...(callBackUrl && { callBackUrl }) }))
				return original;
			throw new Refusal(422, `${settings.idempotencyHeader} was used for another request`);
		},

		keep(headers: IncomingHttpHeaders, { taskId }: TaskRecord) {
			const key = readKey(headers);
			if (key) taskIds.set(key, taskId);
		},
	};
}
