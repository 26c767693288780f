import { median } from 'simple-statistics';
import { parseServiceJson } from '../nodes/MediaGeneration/api/schemas.ts';
import { Redactor } from '../nodes/MediaGeneration/api/redaction.ts';
import { taskRecord, toTask } from '../nodes/MediaGeneration/api/task.ts';
import { interleave, type Row } from './measure.cts';

const BYTES = 2 * 1024 * 1024;
const ROUNDS = 9;

const redactor = new Redactor([
	'the-access-token',
	'the/hmac+key',
	'7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f',
]);
const link = (index: number) => `https://cdn.example/${index}`;

/** Results of this many bytes, and more that is hard to read. */
const RESULTS: Record<string, (bytes: number) => unknown> = {
	links: (bytes) => Array.from({ length: bytes / 32 }, (_, index) => link(index)),
	'objects of links': (bytes) =>
		Array.from({ length: bytes / 48 }, (_, index) => ({ video: link(index), id: index })),
	'one text': (bytes) => '/webhook-waiting/1?'.padEnd(bytes, 'x'),
	'percent signs': (bytes) => '%25'.repeat(bytes / 3),
};

const buildAnswer = (name: string) =>
	JSON.stringify({ taskId: 'task', state: 'success', response: RESULTS[name]?.(BYTES) });

/** Reads an answer, and returns the milliseconds of each pass over it. */
function timePasses(text: string) {
	const times: Record<string, number> = {};
	const time = <Result,>(pass: string, work: () => Result) => {
		const begun = performance.now();
		const result = work();
		times[pass] = performance.now() - begun;
		return result;
	};
	const parsed = time('parse', () => parseServiceJson(text));
	const hidden = time('hide secrets', () => redactor.hideInData(parsed));
	const record = time('check', () => taskRecord.parse(hidden));
	time('find links', () => toTask('task', record));
	return times;
}

/** The time to read an answer of the largest size that is read, in the pass that takes longest. */
export async function bench(): Promise<Row[]> {
	const answers = Object.fromEntries(Object.keys(RESULTS).map((name) => [name, buildAnswer(name)]));
	const rounds = await interleave(answers, { rounds: ROUNDS }, async (text) => timePasses(text));
	return Object.entries(rounds).map(([name, times]) => {
		const medians = Object.keys(times[0] ?? {}).map((pass): [string, number] => [
			pass,
			median(times.map((one) => Number(one[pass]))),
		]);
		const passes = medians.map(([pass, value]) => `${pass} ${value.toFixed(1)} ms`).join(', ');
		return {
			name: `An answer of 2 MB, ${name}: the longest pass`,
			value: Math.max(...medians.map(([, value]) => value)),
			unit: 'ms',
			goal: { atMost: 50 },
			figures: `${passes}; medians of ${ROUNDS}`,
		};
	});
}
