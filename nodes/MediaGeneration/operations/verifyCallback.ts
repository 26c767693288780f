import { jsonParse } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS, TIMESTAMP_HEADER } from '../callback/scheme';
import type { KeyName } from '../callback/signature';
import type { CallbackRequest, Fault } from '../callback/verify';
import { dropUndefined } from '../lib/json';
import { buildFieldError, jsonObject, type Field } from '../models/field';
import { defineOperation, runEach } from './operation';

const headersField: Field = {
	displayName: 'Headers',
	name: 'headers',
	type: 'json',
	default: '={{ $json.headers }}',
	required: true,
	description:
		'Headers of the callback, as a JSON object with names in any case. By default, those that a Webhook node outputs.',
};

const bodyField: Field = {
	displayName: 'Body',
	name: 'body',
	type: 'json',
	default: '={{ $json.body }}',
	required: true,
	description:
		'Body of the callback as it was received: JSON, or the text that should have been JSON. By default, the one that a Webhook node outputs.',
};

/** What is told of a callback: no key, no signature. */
export interface VerdictItem {
	genuine: boolean;
	/** Absent: genuine. */
	reason?: Fault;
	message: string;
	taskId?: string;
	/** The key that made the signature, also when something else is wrong. */
	signature?: KeyName;
	/** Seconds by which the timestamp is ahead of the clock here; negative: behind. */
	clockDifferenceSeconds?: number;
}

export const verifyCallback = defineOperation<CallbackRequest>({
	resource: 'task',
	value: 'verifyCallback',
	name: 'Verify Callback',
	action: 'Verify a callback of the service',
	description: 'Find out why a callback of the service is refused, without starting anything',
	fields: [headersField, bodyField],
	prepare: ({ read }) => {
		const headers = jsonObject.safeParse(read(headersField.name));
		if (!headers.success)
			throw buildFieldError(
				`'Headers' must be a JSON object, as a Webhook node outputs it, for example {"${TIMESTAMP_HEADER}": "…"}`,
			);
		const given = read(bodyField.name);
		const text = String(typeof given === 'string' ? given : JSON.stringify(given));
		// A body that is not JSON may be what is wrong with it.
		const body = jsonParse(text, { fallbackValue: text });
		return {
			headers: toNodeHeaders(headers.data),
			body,
			bytes: Buffer.from(text),
		};
	},
	run: runEach(async ({ service }, request) => {
		const { readSigningKeys } = await import('../callback/signature');
		const { FAULTS, verify } = await import('../callback/verify');
		const keys = readSigningKeys(service.credentials);
		const verdict = verify(request, keys, {
			toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
			now: Date.now(),
		});
		const [reason] = verdict.faults;
		const json: VerdictItem = {
			genuine: !reason,
			reason,
			message: reason ? FAULTS[reason][1] : 'The callback is genuine',
			taskId: verdict.taskId,
			signature: verdict.signedBy,
			clockDifferenceSeconds: verdict.clockDifferenceSeconds,
		};
		return [{ json: dropUndefined(json) }];
	}),
});

/** Writes header names in lower case, as Node does, and numbers as text. */
const toNodeHeaders = (headers: Record<string, unknown>): Record<string, unknown> =>
	Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [
			name.trim().toLowerCase(),
			typeof value === 'number' ? String(value) : value,
		]),
	);
