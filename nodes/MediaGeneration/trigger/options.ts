import type { INodeProperties } from 'n8n-workflow';

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
		displayName: 'Tolerance',
		name: 'toleranceSeconds',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 300,
		description:
			'How many seconds the time stamp of a callback may differ from the time here; 0 accepts any',
	},
];

interface Options {
	deduplicate: boolean;
	fetchDetails: boolean;
	toleranceSeconds: number;
}

const defaults = Object.fromEntries(optionFields.map((field) => [field.name, field.default]));

/** The Options that count: those that the user set, and the defaults of the others. */
export const optionsOf = (set: object): Options => ({ ...defaults, ...set }) as unknown as Options;
