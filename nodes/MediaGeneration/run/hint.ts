import type { IExecuteFunctions } from 'n8n-workflow';
import { toPlainText } from '../lib/text';

/** Shows a hint at the node's output. */
export const addHint = (
	context: IExecuteFunctions,
	type: 'warning' | 'info',
	message: string,
): void =>
	context.addExecutionHints({ type, location: 'outputPane', message: toPlainText(message) });
