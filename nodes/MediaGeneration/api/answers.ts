import { isDeeper } from '../lib/isDeeper';
import { parseJson } from '../lib/json';
import { findCallbackUrls, listUrlSecrets, type Redactor } from './redaction';
import { JSON_LEVELS, taskId } from './schemas';

/**
 * Every answer of the service comes in here. It is bounded in size and depth, and the request's secrets are removed. The schemas
 * are in schemas.ts and task.ts.
 */

/** The text that arrived. */
export interface CollectedText {
	text: string;
	isTooLarge?: boolean;
	/** The error that ended it early. */
	error?: unknown;
}

/**
 * Collects a streamed body up to a limit. n8n's HTTP helper has no limit of its own.
 * @param body the stream, or the text or JSON that n8n gives in its place in evaluations
 */
export async function collectText(body: unknown, maxBytes: number): Promise<CollectedText> {
	if (!isStream(body)) {
		const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
		return text.length > maxBytes ? { text: text.slice(0, maxBytes), isTooLarge: true } : { text };
	}
	const chunks: Uint8Array[] = [];
	const decode = () => new TextDecoder().decode(Buffer.concat(chunks));
	let size = 0;
	try {
		for await (const chunk of body) {
			size += chunk.length;
			if (size > maxBytes) return { text: decode(), isTooLarge: true };
			chunks.push(chunk);
		}
	} catch (error) {
		return { text: decode(), error };
	}
	return { text: decode() };
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
	typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** Parses JSON of the service without rounding a long numeric task ID; undefined where the text is not JSON, or is nested too deep. */
export function parseServiceJson(text: string): unknown {
	const value = parseJson(text.replace(/("taskId"\s*:\s*)(\d+)(?=\s*[,}])/g, '$1"$2"'));
	return isDeeper(value, JSON_LEVELS) ? undefined : value;
}

/** A record has one. Each more makes redaction slower. */
const MAX_CALLBACK_URLS = 5;

/**
 * Parses an answer and hides the secrets in it: those of the credential and the request, and those in the callback URL that the
 * service stored with the task.
 * @returns undefined where it is not JSON
 */
export function parseAnswer(text: string, redactor: Redactor): unknown {
	const body = parseServiceJson(text);
	const callbackUrls = [...new Set(findCallbackUrls(body, parseServiceJson))].slice(
		0,
		MAX_CALLBACK_URLS,
	);
	return redactor.with(callbackUrls.flatMap(listUrlSecrets)).hideInData(body);
}

/** Finds the task ID in an answer to a creation that can't be parsed: the task may have been paid for. */
export function findTaskId(text: string): string | undefined {
	const [, id, number] = /"taskId"\s*:\s*(?:"([^"\\]+)"|(\d+)\s*[,}])/.exec(text) ?? [];
	return taskId.safeParse(id ?? number).data;
}
