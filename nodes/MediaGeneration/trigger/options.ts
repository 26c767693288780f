import type { IDataObject, IHookFunctions, INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS, type VerifySettings } from '../callback/verify';

/** The trigger's Options, in the order of their names. */
export const optionsField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Deduplicate',
			name: 'deduplicate',
			type: 'boolean',
			default: true,
			description:
				'Whether a task starts the workflow once for each outcome, though the service may send several callbacks',
		},
		{
			displayName: 'Fetch Details',
			name: 'fetchDetails',
			type: 'boolean',
			default: true,
			description:
				"Whether to ask the service for the task before it is output. The body of a callback is not signed: turned off, what it says is passed on as the sender's claim.",
		},
		{
			displayName: 'Tolerance (Seconds)',
			name: 'toleranceSeconds',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: DEFAULT_TOLERANCE_SECONDS,
			description:
				'How many seconds the timestamp of a callback may differ from the time here; 0 accepts any',
		},
	],
};

/** What the user set, as it counts. */
export interface TriggerSettings extends VerifySettings {
	events: string[];
	deduplicate: boolean;
	fetchDetails: boolean;
}

/**
 * Reads the trigger's fields. Only a literal false turns off what protects: an expression may give
 * blank text, 0 or nothing. A tolerance that is no number of seconds is the default.
 */
export function readSettings(context: IWebhookFunctions | IHookFunctions): TriggerSettings {
	const options = context.getNodeParameter('options', {}) as IDataObject;
	const { deduplicate, fetchDetails, toleranceSeconds: seconds } = options;
	const isTolerance = typeof seconds === 'number' && seconds >= 0 && isFinite(seconds);
	return {
		events: context.getNodeParameter('events', []) as string[],
		verifySignature: context.getNodeParameter('verifySignature', true) !== false,
		deduplicate: deduplicate !== false,
		fetchDetails: fetchDetails !== false,
		toleranceSeconds: isTolerance ? seconds : DEFAULT_TOLERANCE_SECONDS,
	};
}
