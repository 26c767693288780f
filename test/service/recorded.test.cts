import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonParse } from 'n8n-workflow';
import { openFolder } from '../../dev/pack.cts';
import { readRecorded } from '../../dev/service/recorded.cts';
import { listen } from '../../probe/listen.cts';
import { probe } from '../../probe/probe.cts';
import { start } from './support.cts';

const folder = join(__dirname, '..', 'recorded');

/** Runs the probe against an emulator that answers with what is in a folder, or by itself. */
async function run(recorded?: string, prompt = 'Night') {
	const service = await start({ recorded });
	const receiver = await listen(0);
	const { model = 'beta2/image-edit' } = readRecorded(recorded);
	const input = { prompt, image_url: `${service.resultsUrl}/sample.png` };
	const { rows, recording } = await probe(
		{ baseUrl: service.url, accessToken: 'dev-token', webhookSecret: 'dev-webhook-key' },
		{
			free: { lookupPause: 0 },
			paid: {
				request: { model, callBackUrl: receiver.url, input },
				waitForCallback: receiver.waitForCallback,
				pollEvery: 0.002,
				limit: 5,
				callbackWithin: 5,
				log: () => undefined,
			},
		},
	);
	receiver.close();
	return { rows, recording, cases: recording.cases };
}

const nameType = (value: unknown) =>
	value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Lists the values of one answer whose type another has not, where both have a value; JSON in text is looked into. */
function listOtherTypes(one: unknown, other: unknown, path = ''): string[] {
	const [first, second] = [one, other].map(nameType);
	if (first === 'null' || second === 'null') return [];
	if (first !== second) return [`${path} is ${first}, and ${second} in the emulator`];
	if (first === 'string') {
		const [text, otherText] = [one, other].map(parseObject);
		return text && otherText ? listOtherTypes(text, otherText, path) : [];
	}
	if (first !== 'object' && first !== 'array') return [];
	const theirs = other as Record<string, unknown>;
	return Object.entries(one as object)
		.filter(([key]) => key in theirs)
		.flatMap(([key, value]) => listOtherTypes(value, theirs[key], `${path}/${key}`));
}

const parseObject = (text: unknown) =>
	String(text).startsWith('{')
		? jsonParse<unknown>(String(text), { fallbackValue: null })
		: undefined;

/** A schema is what one model says of itself. */
const WITHOUT_TYPES = ['modelSchema.json'];

describe.each(readdirSync(folder))('what was recorded of %s', (name) => {
	const recorded = join(folder, name);
	const files = readdirSync(recorded).filter((file) => !WITHOUT_TYPES.includes(file));
	let own: Record<string, unknown>;
	beforeAll(async () => {
		own = (await run()).cases;
	});

	it('is what the package expects', async () => {
		const { rows } = await run(recorded);
		expect(rows.filter(({ verdict }) => verdict === 'different')).toEqual([]);
	});

	it.each(files)('%s has the types that the emulator has', (file) => {
		const answer: unknown = JSON.parse(readFileSync(join(recorded, file), 'utf8'));
		expect(listOtherTypes(answer, own[file.replace('.json', '')])).toEqual([]);
	});

	it('has nothing of an account in it', () => {
		for (const file of readdirSync(recorded))
			expect(readFileSync(join(recorded, file), 'utf8')).not.toMatch(
				/dev-token|dev-webhook-key|Bearer |127\.0\.0\.1/,
			);
	});
});

it("the emulator's own recording is of the cases that it has now", async () => {
	const { cases } = await run();
	const files = readdirSync(join(folder, 'emulator')).map((file) => file.replace('.json', ''));
	expect(Object.keys(cases).sort()).toEqual(files.sort());
});

it('replays a numeric task ID as a number, and keeps none of its digits', async () => {
	using folder = openFolder();
	const first = await run(undefined, '#numericId');
	const body = { data: { taskId: '{taskId}' } };
	expect(first.cases.create).toMatchObject({ hasNumericId: true, body });
	expect(JSON.stringify(first.cases)).not.toMatch(/\d{17}/);
	first.recording.write(folder.path);

	const { rows, cases } = await run(folder.path);
	expect(rows.filter(({ verdict }) => verdict === 'different')).toEqual([]);
	expect(cases.create).toMatchObject({ hasNumericId: true, body });
});

it('a type that differs is named, also in JSON in a text', () => {
	const body = (data: object) => ({ data: { ...data, resultJson: JSON.stringify(data) } });
	expect(listOtherTypes(body({ a: 1, b: null }), body({ a: '1', b: 2 }))).toEqual([
		'/data/a is number, and string in the emulator',
		'/data/resultJson/a is number, and string in the emulator',
	]);
});
