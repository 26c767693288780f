import type { IExecuteFunctions } from 'n8n-workflow';
import { cutText } from '../lib/text';

/**
 * Shows a text with the execution. n8n drops the output of one that is stopped, but keeps 255
 * characters of custom data (2.14.2, 2.41.1). `e2e/stopAndTimeout` fails first.
 */
export function showInExecution(context: IExecuteFunctions, name: string, text: string): void {
	const { customData } = context.getWorkflowDataProxy(0).$execution as {
		customData: { set: (key: string, value: string) => void };
	};
	customData.set(name, cutText(text, 255));
}
