import type { IWebhookFunctions } from 'n8n-workflow';
import { readBody } from '../../../nodes/MediaGeneration/host/jsonBody';
import { fake } from '../n8n';

const bytes = Buffer.from('{"x":1}');
const unread = {
	rawBody: undefined as Buffer | undefined,
	readRawBody: async () => void (unread.rawBody = bytes),
};
const tooLarge = async () => await Promise.reject(new Error('request entity too large'));

interface Request {
	rawBody?: Buffer;
	readRawBody?: () => Promise<void>;
}

it.each<[string, string | undefined, Request, unknown]>([
	['what n8n parsed', 'application/json; charset=utf-8', { rawBody: bytes }, { parsed: true }],
	['what n8n parsed of no type', undefined, {}, { parsed: true }],
	['what n8n made of text', 'text/x+jsonp', {}, { parsed: true }],
	['bytes that n8n has not read', 'application/task+json; charset=utf-8', unread, { x: 1 }],
	['bytes that n8n has', 'application/task+json', { rawBody: bytes }, { x: 1 }],
	['no JSON', 'application/task+json', { rawBody: Buffer.from('{"x"') }, null],
	['more than n8n takes', 'application/task+json', { readRawBody: tooLarge }, null],
	['nothing', 'application/task+json', {}, null],
])('the body is %s', async (_, type, request, body) => {
	const context = fake<IWebhookFunctions>({
		getHeaderData: () => ({ 'content-type': type }),
		getBodyData: () => ({ parsed: true }),
		getRequestObject: () => request,
	});
	const read = await readBody(context);
	expect(read).toEqual({ body, bytes: request.rawBody ?? Buffer.alloc(0) });
});
