import { sleep, type IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL, type Credentials } from '../api/endpoints';

/** How long callbacks share a credential that was read, in milliseconds. A change of it counts after this time. */
export const SHARED_FOR = 1_000;

/** Reads that are under way or just ended, by node and credential. */
const reads = new Map<string, Promise<Credentials>>();

/** Reads the node's credential for a callback. Callbacks share a read for a second: each costs n8n a V8 isolate. */
export async function readSharedCredentials(context: IWebhookFunctions): Promise<Credentials> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL]?.id} ${context.getMode()}`;
	const known = reads.get(key);
	if (known) return await known;
	const read = context.getCredentials<Credentials>(CREDENTIAL);
	reads.set(key, read);
	const forget = () => reads.delete(key);
	void read.then(async () => await sleep(SHARED_FOR)).then(forget, forget);
	return await read;
}
