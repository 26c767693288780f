import { jsonParse, type IWebhookFunctions } from 'n8n-workflow';

/** What n8n's request has beside Express's (`body-parser.js`, 2.14.2 and 2.41.1). */
interface RequestFields {
	rawBody?: Buffer;
	/** Reads no more than n8n's limit. */
	readRawBody?: () => Promise<void>;
}

/**
 * Reads the body of a webhook's request, null where it can't be read, and its bytes. n8n leaves
 * types that are JSON by their suffix as bytes in a field of the request. `e2e/trigger` fails first.
 */
export async function readBody(context: IWebhookFunctions) {
	const type = context.getHeaderData()['content-type'] ?? '';
	const isLeft = /\+json\s*(;|$)/i.test(type);
	const request = context.getRequestObject() as RequestFields;
	if (isLeft) await request.readRawBody?.().catch(() => undefined);
	const bytes = request.rawBody ?? Buffer.alloc(0);
	const body = isLeft ? jsonParse(String(bytes), { fallbackValue: null }) : context.getBodyData();
	return { body, bytes };
}
