import type { INodeProperties } from 'n8n-workflow';
import { TOLERANCE_SECONDS } from '../service/tolerance';

/** The trigger's Options, in the order of their names. */
export const optionFields: INodeProperties[] = [
	{
		displayName: 'Deduplicate',
		name: 'deduplicate',
		type: 'boolean',
		default: true,
		description:
			'Whether a task starts the workflow once for each outcome, though the service may call several times',
	},
	{
		displayName: 'Fetch Details',
		name: 'fetchDetails',
		type: 'boolean',
		default: true,
		description:
			"Whether to ask the service for the task before it is given out. The body of a callback is not signed: turned off, what it says is passed on as the sender's claim.",
	},
	{
		displayName: 'Tolerance (Seconds)',
		name: 'toleranceSeconds',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: TOLERANCE_SECONDS,
		description:
			'How many seconds the time stamp of a callback may differ from the time here; 0 accepts any',
	},
];

interface Options {
	deduplicate: boolean;
	fetchDetails: boolean;
	toleranceSeconds: number;
}

const defaults = Object.fromEntries(
	optionFields.map((field) => [field.name, field.default]),
) as unknown as Options;

/**
 * The Options that count: those that the user set, and the defaults of the others. A tolerance that is no number of
 * seconds (an expression may give anything) would let callbacks of any age in, so the default counts then.
 */
export function optionsOf(set: object): Options {
	const options: Options = { ...defaults, ...set };
	const valid = Number.isFinite(options.toleranceSeconds) && options.toleranceSeconds >= 0;
	return valid ? options : { ...options, toleranceSeconds: defaults.toleranceSeconds };
}
