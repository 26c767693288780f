import { isObject, parseJson } from '../nodes/MediaGeneration/lib/json.ts';

/** Where a service showed in which dialect it speaks, by what was looked at. `dev/service/dialects.cts` has the two whole. */
export type Clues = Record<string, 'contract' | 'recorded'>;

const getData = (body: unknown) => (isObject(body) && isObject(body.data) ? body.data : {});

/** Reads what the answer to a request of the API shows of the dialect. */
export function readClues(path: string, body: unknown): Clues {
	if (!isObject(body)) return {};
	const { taskId, recordId, param } = getData(body);
	if (body.code === 401) return { 'a wrong token': 'data' in body ? 'contract' : 'recorded' };
	if (path.includes('/jobs/createTask') && taskId)
		return { 'the answer to a creation': recordId ? 'recorded' : 'contract' };
	if (typeof param !== 'string') return {};
	const request = parseJson(param);
	const input = isObject(request) ? request.input : undefined;
	return input ? { "a task's input": typeof input === 'string' ? 'recorded' : 'contract' } : {};
}

/** Reads what a callback shows of the dialect. */
export function readCallbackClues(body: unknown): Clues {
	const { task_id: contractId, taskId: recordId } = getData(body);
	if (contractId === undefined && recordId === undefined) return {};
	return { 'the ID of a callback': contractId === undefined ? 'recorded' : 'contract' };
}

/** Says which dialect a service speaks: one, or where it speaks which. */
export function nameDialect(clues: Clues): string {
	const [first, ...others] = new Set(Object.values(clues));
	if (!first) return 'unknown';
	if (others.length === 0) return `${first}, by ${Object.keys(clues).join(', ')}`;
	return `a mixture: ${Object.entries(clues)
		.map(([what, dialect]) => `${dialect} in ${what}`)
		.join(', ')}`;
}
