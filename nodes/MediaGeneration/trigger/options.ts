import type { INodeProperties } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS } from '../callback/signature';

/** The trigger's Options, in the order of their names. */
export const optionFields: INodeProperties[] = [
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

export interface Options {
	deduplicate: boolean;
	fetchDetails: boolean;
	toleranceSeconds: number;
}

/**
 * Only a literal false turns off an option that protects. An expression, or a workflow file, may give anything else: a blank
 * text, 0, nothing.
 */
const isOn = (value: unknown): boolean => value !== false;

export const verifiesSignature = isOn;

/** Reads the Options that the user set, with the defaults of the others. A tolerance that is no number of seconds is the default too. */
export function readOptions(set: object): Options {
	const { deduplicate, fetchDetails, toleranceSeconds } = set as Partial<
		Record<keyof Options, unknown>
	>;
	return {
		deduplicate: isOn(deduplicate),
		fetchDetails: isOn(fetchDetails),
		toleranceSeconds:
			typeof toleranceSeconds === 'number' && toleranceSeconds >= 0 && isFinite(toleranceSeconds)
				? toleranceSeconds
				: DEFAULT_TOLERANCE_SECONDS,
	};
}
