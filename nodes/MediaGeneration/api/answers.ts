import { isDeeper } from '../lib/isDeeper';
import { parseJson } from '../lib/json';
import { findCallbackUrls, listUrlSecrets, type Redactor } from './redaction';
import { JSON_LEVELS, taskId } from './schemas';

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
