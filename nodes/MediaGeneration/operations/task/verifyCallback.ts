import { jsonParse } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS, TIMESTAMP_HEADER } from '../../api/service';
import { buildFieldError, jsonObject, readNumberOption, type Field } from '../../models/field';
import { defineOperation, optionsField, runEach } from '../operation';

const headersField: Field = {
	displayName: 'Headers',
	name: 'headers',
	type: 'json',
	default: '={{ $json.headers }}',
	required: true,
	description:
		'Headers of the callback as a JSON object, their names in any case. By default those that a Webhook node returns.',
};

const bodyField: Field = {
	displayName: 'Body',
	name: 'body',
	type: 'json',
	default: '={{ $json.body }}',
	required: true,
	description:
		'Body of the callback as it was received: JSON, or the text that should have been JSON. By default the one that a Webhook node returns.',
};

const toleranceOption: Field = {
	displayName: 'Tolerance (Seconds)',
	name: 'toleranceSeconds',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 31_536_000 },
	default: DEFAULT_TOLERANCE_SECONDS,
	description:
		"How many seconds the callback's timestamp may differ from n8n's clock. For an old callback, set 0, which accepts any.",
};

interface ReceivedCallback {
	headers: Record<string, unknown>;
	body: unknown;
	toleranceSeconds: number;
}

export const verifyCallback = defineOperation<ReceivedCallback>({
	resource: 'task',
	value: 'verifyCallback',
	name: 'Verify Callback',
	action: 'Verify a callback of the service',
	description: 'Find out why a callback of the service is refused, without starting anything',
	fields: [headersField, bodyField, optionsField([toleranceOption])],
	prepare: ({ read, option }) => {
		const headers = jsonObject.safeParse(read(headersField.name));
		if (!headers.success)
			throw buildFieldError(
				`'Headers' must be a JSON object, for example {"${TIMESTAMP_HEADER}": "…"}`,
			);
		const body = read(bodyField.name);
		// A body that is not JSON may be what is wrong with it.
		const parsed = typeof body === 'string' ? jsonParse(body, { fallbackValue: body }) : body;
		const toleranceSeconds = readNumberOption(option, toleranceOption);
		return { headers: headers.data, body: parsed, toleranceSeconds };
	},
	run: runEach(async ({ service }, { headers, body, toleranceSeconds }) => {
		const { diagnose } = await import('../../callback/diagnose');
		const { readSigningKeys } = await import('../../callback/signature');
		const keys = readSigningKeys(service.credentials);
		const options = { toleranceSeconds, now: Date.now() };
		return [{ json: diagnose({ headers, body }, keys, options) }];
	}),
});
