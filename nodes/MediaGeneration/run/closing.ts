import type { UserError } from 'n8n-workflow';
import type { UnknownOutcome } from '../api/failure';
import type { Call } from '../host/call';
import { refuseRun } from './errors';
import { planCreations, type CreationTimes } from './timetable';

/** When a call's creations end, so that its output comes in time, and what is said then. */
export interface Closing extends CreationTimes {
	/** The error of items that were not sent. */
	notSent: UserError;
	/** The outcome of a creation that is still under way. */
	underway: UnknownOutcome;
}

const buildForMcp = (): Omit<Closing, keyof CreationTimes> => ({
	notSent: refuseRun(
		'There was no time left to create the task, because MCP clients give up after a minute',
		'The client may call again.',
	),
	underway: {
		message: 'The service took so long to create the task that the MCP client would have given up',
		advice: "Do not create it again. Its ID will be in n8n's log.",
	},
});

const buildForN8n = (): Omit<Closing, keyof CreationTimes> => ({
	notSent: refuseRun(
		"There was no time left to create the task before n8n's timeout",
		"Raise 'Timeout Workflow' in the workflow's settings, or give the node fewer items.",
	),
	underway: {
		message: 'The service took so long to create the task that n8n would have ended the execution',
		advice: "Its ID will be in n8n's log.",
	},
});

/** Plans when a call's creations end: before an MCP client gives up, or before n8n's timeout. */
export function planClosing({ answerBy, timeout }: Call): Closing {
	const times = planCreations(timeout);
	if (answerBy <= times.last) return { ...buildForMcp(), last: answerBy, known: answerBy };
	return { ...buildForN8n(), ...times };
}
