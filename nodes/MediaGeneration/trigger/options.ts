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
