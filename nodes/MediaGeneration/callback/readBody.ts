import { jsonParse, type IWebhookFunctions } from 'n8n-workflow';
import { isJsonType } from './verify';

/** The request as n8n makes it. Nodes of version 1 find the bytes in it; for newer ones they are still to be read. */
interface UnparsedRequest {
	rawBody?: Buffer;
	/** Reads no more than n8n's limit. */
	readRawBody?: () => Promise<void>;
}

/**
 * Reads the body of a callback. Of the types that are JSON, n8n parses application/json alone.
 * @returns the parsed JSON; null where it can't be read
 */
export async function readBody(context: IWebhookFunctions): Promise<unknown> {
	const body = context.getBodyData();
	const type = context.getHeaderData()['content-type'] ?? '';
	if (/^application\/json\b/i.test(type) || !isJsonType(type)) return body;
	const request = context.getRequestObject() as UnparsedRequest;
	await request.readRawBody?.().catch(() => undefined);
	return jsonParse(String(request.rawBody), { fallbackValue: null });
}
