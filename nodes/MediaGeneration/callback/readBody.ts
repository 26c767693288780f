import { jsonParse, type IWebhookFunctions } from 'n8n-workflow';
import { isJsonType } from './verify';

/** n8n's request. It has the bytes for webhooks of version 1; newer ones must read them. */
interface UnparsedRequest {
	rawBody?: Buffer;
	/** Reads no more than n8n's limit. */
	readRawBody?: () => Promise<void>;
}

/**
 * Reads the body of a callback. n8n itself parses only application/json.
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
