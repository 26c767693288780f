import { parseAnswer } from '../../../nodes/MediaGeneration/api/exchange';
import { Redactor } from '../../../nodes/MediaGeneration/api/redaction';
import { rawTaskRecord, taskRecord, toTask } from '../../../nodes/MediaGeneration/api/task';

const redactor = new Redactor([
	'the-access-token',
	'the/hmac+key',
	'7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f',
]);

const BYTES = 1024 * 1024;
const fill = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length));
const link = (index: number) => `https://cdn.example/${index}`;
const list = (bytes: number, build: (index: number) => unknown) =>
	JSON.stringify(Array.from({ length: bytes / 40 }, (_, index) => build(index)));

/** How much longer a pass may take by chance, in milliseconds. */
const NOISE = 5;

/** Reads an answer with a task's record whose result is this, as a look does. */
function read(result: string): number {
	const begun = performance.now();
	const record = parseAnswer(`{"taskId":"task","state":"success","response":${result}}`, redactor);
	const { success } = rawTaskRecord.safeParse(record);
	if (success) toTask('task', taskRecord.parse(record));
	return performance.now() - begun;
}

it.each<[string, (bytes: number) => string]>([
	['a resume URL', (bytes) => `"/webhook-waiting/1?${fill('x', bytes)}"`],
	['resume URLs', (bytes) => `"${fill('/webhook-waiting/', bytes)}"`],
	['links', (bytes) => list(bytes, link)],
	['one long link', (bytes) => `"https://cdn.example/${fill('x', bytes)}"`],
	['objects of links', (bytes) => list(bytes, (index) => ({ video: link(index), id: index }))],
	[
		'objects of none',
		(bytes) => list(bytes, (index) => ({ [`image_${index}`]: {}, a: { b: [1] } })),
	],
	['names', (bytes) => `{${list(bytes, link).slice(1, -1).replaceAll(',', ':[0],')}:[0]}`],
	['nesting', (bytes) => `[${fill(`${fill('[', 60)}${fill(']', 60)},`, bytes)}0]`],
	['IDs', (bytes) => `[${fill('{"taskId":1},', bytes)}{"taskId":    1}]`],
	['blanks', (bytes) => `{"taskId":${fill(' ', bytes)}1`],
	['backslashes', (bytes) => `"${fill('\\\\', bytes)}"`],
	['percent signs', (bytes) => `"${fill('%25', bytes)}"`],
	['half a secret', (bytes) => `"${fill('the-access-toke', bytes)}"`],
	['text in text', (bytes) => JSON.stringify(JSON.stringify(list(bytes / 2, link)))],
])(
	'an answer of %s takes at most 2.5 times as long for each time it is twice as long',
	(_, build) => {
		const [quarter, whole] = [build(BYTES / 4), build(BYTES)];
		const time = (text: string) => Math.min(...Array.from({ length: 3 }, () => read(text)));
		// A busy machine disturbs a measurement, most of all one of a few milliseconds. Quadratic work
		// would take 16 times as long each time, and seconds.
		const ratios = [];
		do ratios.push((time(whole) - NOISE) / time(quarter));
		while (ratios.length < 10 && Math.min(...ratios) > 2.5 ** 2);
		expect(Math.min(...ratios)).toBeLessThanOrEqual(2.5 ** 2);
	},
);
