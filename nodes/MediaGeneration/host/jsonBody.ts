import type { IWebhookFunctions } from 'n8n-workflow';

/**
 * Reads the body of a webhook's request, and the bytes that n8n keeps beside it (`body-parser.js`,
 * 2.14.2, 2.41.1). `e2e/trigger` fails first, for the body.
 */
export function readBody(context: IWebhookFunctions) {
	const { rawBody } = context.getRequestObject() as { rawBody?: Buffer };
	return { body: context.getBodyData() as unknown, bytes: rawBody ?? Buffer.alloc(0) };
}
