import { createHmac } from 'crypto';

/** Whom the cases are about: the receiver's clock and keys, and a task that has ended. */
export interface CaseSubject {
	taskId: string;
	/** Unix time in seconds. */
	seconds: number;
	key: string;
	previousKey: string;
}

/** A callback, and what a receiver that verifies with a tolerance of 300 seconds answers. */
export interface CallbackCase {
	name: string;
	headers: Record<string, string>;
	/** What the JSON says. */
	body: unknown;
	status: 200 | 400 | 401;
	/** Absent: accepted. */
	reason?: string;
}

/** The contract's signature, written a second time so that a mistake does not stand on both sides. */
export const hmac = (taskId: string, timestamp: string | number, key: string): Buffer =>
	createHmac('sha256', key).update(`${taskId}.${timestamp}`).digest();

const nested = (levels: number): unknown => (levels === 0 ? 'end' : { deeper: nested(levels - 1) });

/** Every form of a callback that has a name, as a table: name, headers, body, status, reason. */
export function callbackCases({ taskId, seconds, key, previousKey }: CaseSubject): CallbackCase[] {
	const json = (more: object = {}, data: unknown = { task_id: taskId }) => ({
		taskId,
		code: 200,
		msg: 'success',
		data,
		...more,
	});
	/** `data` alone, so that the top-level id does not contradict. */
	const id = (task_id: unknown) => ({ data: { task_id } });
	const sent = (timestamp: string, signature: string) => ({
		'x-webhook-timestamp': timestamp,
		'x-webhook-signature': signature,
	});
	/** Rightly signed for this time. */
	const at = (timestamp: string | number, signer = key, signedId = taskId) =>
		sent(String(timestamp), hmac(signedId, timestamp, signer).toString('base64'));
	const bytes = hmac(taskId, seconds, key);
	const base64 = bytes.toString('base64');
	/** At the right time, with this signature. */
	const as = (signature: string) => sent(String(seconds), signature);
	const good = at(seconds);
	const long = 'x'.repeat(257);

	type Row = [
		name: string,
		headers: Record<string, string>,
		body: unknown,
		status: 200 | 400 | 401,
		reason?: string,
	];
	// prettier-ignore
	const rows: Row[] = [
		['as the contract has it', good, json(), 200],
		['without a top-level taskId', good, id(taskId), 200],
		['with a top-level taskId of null', good, json({ taskId: null }), 200],
		['with fields that nobody knows', good, json({ new: [1] }, { task_id: taskId, new: { x: 1 } }), 200],
		['with JSON in a named charset', { ...good, 'content-type': 'application/json; charset=utf-8' }, json(), 200],
		['signed with the previous key', at(seconds, previousKey), json(), 200],
		['with the time a little behind', at(seconds - 290), json(), 200],
		['with the time a little ahead', at(seconds + 290), json(), 200],
		['with the time written with zeros in front', at(`00${seconds}`), json(), 200],
		['nested as deep as is allowed', good, json({ more: nested(62) }), 200],

		['no signature headers', {}, json(), 401, 'headerMissing'],
		['no timestamp', { 'x-webhook-signature': base64 }, json(), 401, 'headerMissing'],
		['no signature', { 'x-webhook-timestamp': String(seconds) }, json(), 401, 'headerMissing'],
		['a blank timestamp', sent('', base64), json(), 401, 'headerMissing'],
		['a blank signature', as(''), json(), 401, 'headerMissing'],
		['header names with underscores', { x_webhook_timestamp: String(seconds), x_webhook_signature: base64 }, json(), 401, 'headerMissing'],
		['no signature headers and no body', {}, {}, 401, 'headerMissing'],

		['the timestamp twice', at(`${seconds}, ${seconds}`), json(), 401, 'timestampMalformed'],
		['two timestamps', at(`${seconds}, ${seconds + 1}`), json(), 401, 'timestampMalformed'],
		['a timestamp with a plus', at(`+${seconds}`), json(), 401, 'timestampMalformed'],
		['a timestamp with a minus', at(`-${seconds}`), json(), 401, 'timestampMalformed'],
		['a timestamp with an exponent', at('1.76364e9'), json(), 401, 'timestampMalformed'],
		['a timestamp with a fraction', at(`${seconds}.5`), json(), 401, 'timestampMalformed'],
		['a timestamp in hex', at(`0x${seconds.toString(16)}`), json(), 401, 'timestampMalformed'],
		['a timestamp with a blank inside', at('17636 40000'), json(), 401, 'timestampMalformed'],
		['a timestamp with thousands separators', at('1,763,640,000'), json(), 401, 'timestampMalformed'],
		['a timestamp as a date', at('2025-11-20T12:00:00Z'), json(), 401, 'timestampMalformed'],
		['a timestamp in words', at('now'), json(), 401, 'timestampMalformed'],
		['a timestamp that is Infinity', at('Infinity'), json(), 401, 'timestampMalformed'],
		['a timestamp in other digits than ASCII', at('\u00b2\u00b3'), json(), 401, 'timestampMalformed'],
		['a timestamp of 16 digits', at('1'.repeat(16)), json(), 401, 'timestampMalformed'],
		['a timestamp of 4,000 digits', at('1'.repeat(4_000)), json(), 401, 'timestampMalformed'],

		['a timestamp in milliseconds', at(seconds * 1_000), json(), 401, 'timestampStale'],
		['a timestamp in microseconds, cut to 15 digits', at(seconds * 100_000), json(), 401, 'timestampStale'],
		['a timestamp an hour ago', at(seconds - 3_600), json(), 401, 'timestampStale'],
		['a timestamp an hour ahead', at(seconds + 3_600), json(), 401, 'timestampStale'],
		['a timestamp of 1970', at(0), json(), 401, 'timestampStale'],
		['a timestamp in the far future', at('999999999999999'), json(), 401, 'timestampStale'],

		['a signature in hex', as(bytes.toString('hex')), json(), 401, 'signatureWrong'],
		['a signature in capital hex', as(bytes.toString('hex').toUpperCase()), json(), 401, 'signatureWrong'],
		['a signature in URL-safe Base64', as(bytes.toString('base64url')), json(), 401, 'signatureWrong'],
		['a signature in URL-safe Base64 with padding', as(`${'-_'.repeat(21)}A=`), json(), 401, 'signatureWrong'],
		['a signature without its padding', as(base64.slice(0, -1)), json(), 401, 'signatureWrong'],
		['a signature with more padding', as(`${base64}=`), json(), 401, 'signatureWrong'],
		['a signature with a blank inside', as(`${base64.slice(0, 20)} ${base64.slice(20)}`), json(), 401, 'signatureWrong'],
		['a signature with its algorithm in front', as(`sha256=${base64}`), json(), 401, 'signatureWrong'],
		['a signature in quotes', as(`"${base64}"`), json(), 401, 'signatureWrong'],
		['the signature twice', as(`${base64}, ${base64}`), json(), 401, 'signatureWrong'],
		['a genuine signature among others', as(`${'A'.repeat(43)}=, ${base64}`), json(), 401, 'signatureWrong'],
		['a signature of zeros', as(`${'A'.repeat(43)}=`), json(), 401, 'signatureWrong'],
		['a signature outside ASCII', as('\u00e9'.repeat(44)), json(), 401, 'signatureWrong'],
		['a signature of 8,000 characters', as('A'.repeat(8_000)), json(), 401, 'signatureWrong'],
		['the signature of SHA-1', as(createHmac('sha1', key).update(`${taskId}.${seconds}`).digest('base64')), json(), 401, 'signatureWrong'],
		['the signature of another key', at(seconds, 'stranger'), json(), 401, 'signatureWrong'],
		['the signature of a blank key', at(seconds, ''), json(), 401, 'signatureWrong'],
		['the signature of another task', at(seconds, key, 'another'), json(), 401, 'signatureWrong'],
		['the signature of another time', sent(String(seconds + 1), base64), json(), 401, 'signatureWrong'],
		['the signature of the id alone', as(createHmac('sha256', key).update(taskId).digest('base64')), json(), 401, 'signatureWrong'],
		['the signature of the body', as(createHmac('sha256', key).update(JSON.stringify(json())).digest('base64')), json(), 401, 'signatureWrong'],

		['an empty body', good, {}, 400, 'taskIdMissing'],
		['a body that is a list', good, [json()], 400, 'bodyNotAnObject'],
		['an empty list', good, [], 400, 'bodyNotAnObject'],
		['a body that is text', good, taskId, 400, 'bodyNotAnObject'],
		['a body that is a number', good, 5, 400, 'bodyNotAnObject'],
		['a body that is null', good, null, 400, 'bodyNotAnObject'],
		['a body as plain text', { ...good, 'content-type': 'text/plain' }, json(), 400, 'bodyNotAnObject'],
		['a body as HTML', { ...good, 'content-type': 'text/html' }, json(), 400, 'bodyNotAnObject'],
		['a body in another JSON type', { ...good, 'content-type': 'application/json-seq' }, json(), 400, 'bodyNotAnObject'],
		['a body nested too deep', good, json({ more: nested(64) }), 400, 'bodyTooDeep'],
		['a body nested very deep', good, json({ more: nested(1_000) }), 400, 'bodyTooDeep'],

		['no data', good, { taskId }, 400, 'taskIdMissing'],
		['data that is text', good, json({}, taskId), 400, 'taskIdMissing'],
		['data that is a list', good, json({}, [{ task_id: taskId }]), 400, 'taskIdMissing'],
		['data that is null', good, json({}, null), 400, 'taskIdMissing'],
		['data without a task id', good, json({}, {}), 400, 'taskIdMissing'],
		['the task id under another name', good, json({}, { taskId }), 400, 'taskIdMissing'],
		['the task id by way of __proto__', good, JSON.parse(`{"data":{"__proto__":{"task_id":"${taskId}"}}}`), 400, 'taskIdMissing'],
		['a blank task id', at(seconds, key, ''), id(''), 400, 'taskIdMissing'],
		['a task id that is a number', at(seconds, key, '5'), id(5), 400, 'taskIdMissing'],
		['a task id that is true', at(seconds, key, 'true'), id(true), 400, 'taskIdMissing'],
		['a task id that is null', at(seconds, key, 'null'), id(null), 400, 'taskIdMissing'],
		['a task id in a list', good, id([taskId]), 400, 'taskIdMissing'],
		['a task id that is an object', good, id({ toString: taskId }), 400, 'taskIdMissing'],
		['a task id of 257 characters', at(seconds, key, long), id(long), 400, 'taskIdMalformed'],
		['a task id of 100,000 characters', good, id('x'.repeat(100_000)), 400, 'taskIdMalformed'],
		['a task id with a line break', at(seconds, key, 'a\nb'), id('a\nb'), 400, 'taskIdMalformed'],
		['a task id with a zero byte', at(seconds, key, 'a\0'), id('a\0'), 400, 'taskIdMalformed'],
		['a task id with half a character', at(seconds, key, 'a\ud800'), id('a\ud800'), 400, 'taskIdMalformed'],
		['a top-level taskId that differs', good, json({ taskId: 'another' }), 400, 'taskIdContradictory'],
		['a top-level taskId of another type', good, json({ taskId: [taskId] }), 400, 'taskIdContradictory'],
		['a blank top-level taskId', good, json({ taskId: '' }), 400, 'taskIdContradictory'],
		['a task id that differs by a blank', good, json({}, { task_id: `${taskId} ` }), 400, 'taskIdContradictory'],
		['the id of another task', good, id('another'), 401, 'signatureWrong'],
		['the id and a part of the timestamp', sent(String(seconds), base64), id(`${taskId}.1`), 401, 'signatureWrong'],
	];
	return rows.map(([name, headers, body, status, reason]) => ({
		name,
		headers: { 'content-type': 'application/json', ...headers },
		body,
		status,
		...(reason && { reason }),
	}));
}
