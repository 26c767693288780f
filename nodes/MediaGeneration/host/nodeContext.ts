import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

/**
 * Returns the node's context, which n8n keeps with the execution, between tries and while it
 * sleeps. n8n's Agents run a node in an ephemeral context without an execution, where
 * `getContext` throws (`ephemeral-node-executor.js`, 2.41.1). `e2e/tools` fails first.
 * @returns undefined where there is no execution
 */
export function getNodeContext(context: IExecuteFunctions): IDataObject | undefined {
	try {
		return context.getContext('node');
	} catch {
		return undefined;
	}
}
