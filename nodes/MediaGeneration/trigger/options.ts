import type { INodeProperties } from 'n8n-workflow';
import { DEFAULT_TOLERANCE_SECONDS } from '../callback/verify';

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
		displayName: 'Other Callback Bodies',
		name: 'otherCallbackBodies',
		type: 'boolean',
		default: false,
		description:
			"Whether to accept callbacks whose task ID is in data.taskId or in a top-level taskId, as some services send it. The first of data.task_id and these two that fits the signature counts. Turn it on when n8n's log or Verify Callback says so.",
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
