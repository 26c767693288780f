import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { CREDENTIAL } from '../lib/brand';

type Data = ICredentialDataDecryptedObject;

/** What n8n's contexts have beside their documented API (`node-execution-context.js`). */
interface Internals {
	_getCredentials?: <T extends object = Data>(
		type: string,
		executeData: object,
		input: never[],
		item: number,
	) => Promise<T>;
	runExecutionData?: object | null;
}

const NO_RUN = { resultData: { runData: {} } };

/**
 * Reads a credential as a webhook of the node does, in a webhook or ahead of one: its expressions
 * see no item, and no body that somebody sent. n8n's own read in a webhook sets up an isolate for
 * them, which costs some 45 ms; this one uses the isolate that n8n holds already
 * (`credentials-helper.js`, 2.14.2, 2.41.1). `e2e/versions` fails first.
 * @throws if n8n can't read the credential
 */
export async function readAsWebhook<T extends object = Data>(
	context: IExecuteFunctions | IWebhookFunctions,
	type: string,
): Promise<T> {
	const { _getCredentials, runExecutionData } = context as unknown as Internals;
	if (!_getCredentials) return await context.getCredentials<T>(type);
	const asWebhook = Object.create(context, {
		runExecutionData: { value: runExecutionData ?? NO_RUN },
		runIndex: { value: 0 },
	}) as object;
	const node = context.getNode();
	return (await _getCredentials.call(
		asWebhook,
		type,
		{ data: {}, node, source: null },
		[],
		0,
	)) as T;
}

/** Checks that a webhook will read the same credential as each item of the run has. */
export async function isReadAlike(
	context: IExecuteFunctions,
	credentials: object[],
): Promise<boolean> {
	const read = await readAsWebhook(context, CREDENTIAL).catch(() => undefined);
	const again = JSON.stringify(read);
	return credentials.every((one) => JSON.stringify(one) === again);
}
