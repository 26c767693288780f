import type { INodeProperties } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS } from '../callback/verify';

/** In the order of their names. */
const optionFields: INodeProperties[] = [
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
];

/** The trigger's Options. */
export const optionsField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: optionFields,
};

/** What the user set, as it counts. */
export interface TriggerSettings {
	events: string[];
	verifySignature: boolean;
	deduplicate: boolean;
	fetchDetails: boolean;
	toleranceSeconds: number;
}

interface Parameters {
	getNodeParameter(name: string, fallback?: unknown): unknown;
}

/**
 * Reads the trigger's fields. Only a literal false turns off what protects: an expression may give
 * blank text, 0 or nothing. A tolerance that is no number of seconds is the default.
 */
export function readSettings(context: Parameters): TriggerSettings {
	const options = context.getNodeParameter('options', {}) as Record<string, unknown>;
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
