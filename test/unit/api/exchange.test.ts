import { parseAnswer } from '../../../nodes/MediaGeneration/api/exchange';
import { Redactor } from '../../../nodes/MediaGeneration/api/redaction';
import { rawTaskRecord, taskRecord } from '../../../nodes/MediaGeneration/api/schemas';
import { toTask } from '../../../nodes/MediaGeneration/api/task';
import { expectLinear, fill } from '../linear.cts';

const redactor = new Redactor([
	'the-access-token',
	'the/hmac+key',
	'7d0c6f0f9f2e4f6b8a1c3e5d7f9b1d3f',
]);

const BYTES = 2 * 1024 * 1024;
const link = (index: number) => `https://cdn.example/${index}`;
const list = (bytes: number, build: (index: number) => unknown) =>
	JSON.stringify(Array.from({ length: bytes / 40 }, (_, index) => build(index)));

/** Reads an answer with a task's record whose result is this, as a look does. */
function read(result: string) {
	const record = parseAnswer(`{"taskId":"task","state":"success","response":${result}}`, redactor);
	const { success } = rawTaskRecord.safeParse(record);
	if (success) toTask('task', taskRecord.parse(record));
}

it.each<[string, (bytes: number) => string]>([
	[
		'callback URLs in text',
		(bytes) => JSON.stringify(fill('{"callBackUrl":"https://a?b"},', bytes)),
	],
	[
		'their key and backslashes',
		(bytes) => JSON.stringify(`callBackUrl":"?${fill('\\', bytes / 2)}`),
	],
	['links', (bytes) => list(bytes, link)],
	['one long link', (bytes) => `"https://cdn.example/${fill('x', bytes)}"`],
	['one link of blanks', (bytes) => `"https://cdn.example/${fill(' ', bytes)}x"`],
	['names', (bytes) => `{${list(bytes, link).slice(1, -1).replaceAll(',', ':[0],')}:[0]}`],
	['nesting', (bytes) => `[${fill(`${fill('[', 60)}${fill(']', 60)},`, bytes)}0]`],
	['IDs', (bytes) => `[${fill('{"taskId":1},', bytes)}{"taskId":    1}]`],
	['half a secret', (bytes) => `"${fill('the-access-toke', bytes)}"`],
	['text in text', (bytes) => JSON.stringify(JSON.stringify(list(bytes / 2, link)))],
])('an answer of %s takes time in proportion to its length', (_, build) => {
	const result = build(BYTES);
	expectLinear(() => read(result));
});
