import { median } from 'simple-statistics';
import { parseServiceJson } from '../nodes/MediaGeneration/api/schemas.ts';
import { Redactor } from '../nodes/MediaGeneration/api/redaction.ts';
import { taskRecord, toTask } from '../nodes/MediaGeneration/api/task.ts';
import { interleave, type Row } from './measure.cts';

const BYTES = 2 * 1024 * 1024;
const ROUNDS = 9;
const GOAL = { atMost: 50 };

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

const buildAnswer = (name: string, bytes: number) =>
	JSON.stringify({ taskId: 'task', state: 'success', response: RESULTS[name]?.(bytes) });

/** Returns the milliseconds of each pass over an answer. */
function timePasses(text: string) {
	const marks = [performance.now()];
	const mark = () => marks.push(performance.now());
	const parsed = parseServiceJson(text);
	mark();
	const hidden = redactor.hideInData(parsed);
	mark();
	const record = taskRecord.parse(hidden);
	mark();
	toTask('task', record);
	mark();
	return marks.slice(1).map((time, index) => time - Number(marks[index]));
}

const PASSES = ['parse', 'hide secrets', 'check', 'find links'];

/** The time to read an answer of the largest size that is read, in the pass that takes longest, beside one of half the size. */
export async function bench(): Promise<Row[]> {
	const rows: Row[] = [];
	for (const name of Object.keys(RESULTS)) {
		const ways = { whole: buildAnswer(name, BYTES), half: buildAnswer(name, BYTES / 2) };
		const times = await interleave(ways, { rounds: ROUNDS }, async (text) => timePasses(text));
		const medians = (rounds: number[][]) =>
			PASSES.map((_, pass) => median(rounds.map((round) => Number(round[pass]))));
		const [whole, half] = [medians(times.whole), medians(times.half)];
		const sum = (values: number[]) => values.reduce((total, one) => total + one, 0);
		const passes = PASSES.map((pass, index) => `${pass} ${whole[index]?.toFixed(1)}`).join(', ');
		rows.push({
			name: `An answer of 2 MB, ${name}: the longest pass`,
			value: Math.max(...whole),
			unit: 'ms',
			goal: GOAL,
			figures: `${passes} ms; ${(sum(whole) / sum(half)).toFixed(2)} times as long as one of half the size; medians of ${ROUNDS}`,
		});
	}
	return rows;
}
