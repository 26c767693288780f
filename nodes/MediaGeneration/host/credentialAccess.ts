import {
	ExpressionError,
	UserError,
	type IExecuteFunctions,
	type IWebhookFunctions,
} from 'n8n-workflow';
import { CREDENTIAL } from '../lib/brand';
import { lookInside } from './internals';

/**
 * Reads a credential for the editor, which has no run. Expressions of the credential that need a run
 * throw, and n8n's message then says only that a node without a name hasn't been executed
 * (`credentials-helper.js`, `workflow-data-proxy.js`; 2.14.2, 2.41.1). `e2e/accounts` fails first.
 * @throws {UserError} if the credential depends on the run
 */
export async function readForEditor<T extends object>(
	context: Pick<IExecuteFunctions, 'getCredentials'>,
): Promise<T> {
	return await context.getCredentials<T>(CREDENTIAL).catch((error: Error) => {
		if (!(error instanceof ExpressionError)) throw error;
		throw new UserError(
			'The credential depends on the run, by an expression. Choose one without expressions while you fill in the fields',
		);
	});
}

const NO_RUN = { resultData: { runData: {} } };

/**
 * Reads a credential as a webhook of the node does, in a webhook or ahead of one: the credential's
 * expressions see no item, and no body that somebody sent. n8n's own function sets up an isolate for the
 * expressions in a webhook, which costs some 45 ms. This function uses the isolate that n8n holds already
 * (`node-execution-context.js`, `credentials-helper.js`, 2.14.2, 2.41.1). `e2e/versions` fails first.
 * @throws if n8n can't read the credential
 */
export async function readAsWebhook<T extends object>(
	context: IExecuteFunctions | IWebhookFunctions,
): Promise<T> {
	const { _getCredentials, runExecutionData } = lookInside(context);
	if (!_getCredentials) return await context.getCredentials<T>(CREDENTIAL);
	const asWebhook = Object.create(context, {
		runExecutionData: { value: runExecutionData ?? NO_RUN },
		runIndex: { value: 0 },
	}) as object;
	const executeData = { data: {}, node: context.getNode(), source: null };
	return (await _getCredentials.call(asWebhook, CREDENTIAL, executeData, [], 0)) as T;
}

/** Checks that a webhook will read the same credential as each item of the run has. */
export async function readsSameCredential(
	context: IExecuteFunctions,
	credentials: object[],
): Promise<boolean> {
	const ofWebhook = await readAsWebhook(context).catch(() => undefined);
	const json = JSON.stringify(ofWebhook);
	return credentials.every((one) => JSON.stringify(one) === json);
}
