import { FieldError, jsonObject, type Field } from '../../models/field';
import { TOLERANCE_SECONDS } from '../../service/tolerance';
import { defineOperation, eachItem, numberOption, optionsField } from '../operation';

const headersField: Field = {
	displayName: 'Headers',
	name: 'headers',
	type: 'json',
	default: '={{ $json.headers }}',
	required: true,
	description:
		'Headers of the callback as a JSON object, their names in any case. By default as a Webhook node gives them out.',
};

const bodyField: Field = {
	displayName: 'Body',
	name: 'body',
	type: 'json',
	default: '={{ $json.body }}',
	required: true,
	description:
		'Body of the callback as it was received: JSON, or the text that should have been. By default as a Webhook node gives it out.',
};

const toleranceOption: Field = {
	displayName: 'Tolerance (Seconds)',
	name: 'toleranceSeconds',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: TOLERANCE_SECONDS,
	description:
		'How many seconds the time stamp of the callback may differ from the time now; 0 accepts any, for a callback of the past',
};

interface Callback {
	headers: Record<string, unknown>;
	body: unknown;
}

export const verifyCallback = defineOperation<Callback>({
	resource: 'task',
	value: 'verifyCallback',
	name: 'Verify Callback',
	action: 'Verify callback of a task',
	description: 'Find out why a callback of the service is refused, without starting anything',
	fields: [headersField, bodyField, optionsField([toleranceOption])],
	check: ({ read }) => {
		const headers = jsonObject.safeParse(read(headersField.name));
		if (!headers.success)
			throw new FieldError(
				'Headers must be a JSON object, for example {"X-Webhook-Timestamp": "…"}',
			);
		return { headers: headers.data, body: parsedWhereJson(read(bodyField.name)) };
	},
	run: eachItem<Callback>(async ({ item, checked }, service) => {
		const { diagnoseCallback } = await import('../../service/diagnosis');
		const { headers, body } = checked;
		const keys = service.signingKeys;
		const toleranceSeconds = numberOption(item.option, toleranceOption);
		return { json: diagnoseCallback(headers, body, { keys, toleranceSeconds, now: Date.now() }) };
	}),
});

/** A body that is no JSON is what may be wrong with it. */
function parsedWhereJson(body: unknown): unknown {
	if (typeof body !== 'string') return body;
	try {
		return JSON.parse(body);
	} catch {
		return body;
	}
}
