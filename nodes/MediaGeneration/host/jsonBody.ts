import { jsonParse, type IWebhookFunctions } from 'n8n-workflow';

/** What n8n's request has beside Express's (`body-parser.js`, 2.14.2 and 2.41.1). */
interface RequestFields {
	rawBody?: Buffer;
	/** Reads no more than n8n's limit. */
	readRawBody?: () => Promise<void>;
}

/**
 * Reads the body of a webhook's request; null where it can't be read. n8n leaves types that are
 * JSON by their suffix as bytes in a field of the request. `e2e/trigger` fails first.
 */
export async function readJsonBody(context: IWebhookFunctions): Promise<unknown> {
	const type = context.getHeaderData()['content-type'] ?? '';
	if (!/\+json\s*(;|$)/i.test(type)) return context.getBodyData();
	const request = context.getRequestObject() as RequestFields;
	await request.readRawBody?.().catch(() => undefined);
	return jsonParse(String(request.rawBody), { fallbackValue: null });
}
