import type { IExecuteFunctions } from 'n8n-workflow';
import { cutText } from '../lib/text';

/**
 * Shows a text with the execution, where n8n's list of executions finds it. n8n drops the output of
 * one that is stopped, but keeps ten texts of 255 characters, also in a sleep and for a retry. Names
 * are of letters, digits and underscores (`execution-metadata.js`, 2.14.2, 2.41.1).
 * `e2e/costs` and `e2e/stopAndTimeout` fail first.
 */
export function showInExecution(context: IExecuteFunctions, name: string, text: string): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	customData.set(name, cutText(text, 255));
}

/** What n8n keeps with an execution for all of its nodes, also in a sleep and for a retry. */
export const keepForAllNodes = (context: IExecuteFunctions): Record<string, unknown> =>
	context.getContext('flow');
