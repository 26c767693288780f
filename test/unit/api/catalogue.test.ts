import { sleep } from 'n8n-workflow';
import {
	findModels,
	readModelDocumentForRun,
	readModelDocument,
} from '../../../nodes/MediaGeneration/api/catalogue';
import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { STORES, weigh } from '../../../nodes/MediaGeneration/lib/memory';
import { answerFromCorpus, BROKEN, MINUTE, settle, type Answer } from '../corpus';
import { credentials, openService } from './service';

const ANSWER_TIME = 50;
const LIFETIME = 10 * MINUTE;

let accounts = 0;

/** Opens an account that nobody used before. */
function openAccount(answer: (path: string) => Answer = answerFromCorpus) {
	const open = async (url: string): Promise<[number, unknown]> => {
		await sleep(ANSWER_TIME);
		return [200, answer(url.replace(credentials.baseUrl, ''))];
	};
	return openService(open, { accessToken: `token ${accounts++}` });
}

beforeEach(() => void jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

const ways: Array<[string, (service: TaskService) => Promise<unknown>]> = [
	['the list', findModels],
	['a schema', async (service) => await readModelDocument(service, 'eta-upscale')],
];

describe.each(ways)('%s', (_, read) => {
	it('is remembered for ten minutes, for its account', async () => {
		const { service, requests } = openAccount();
		const first = await settle(read(service));
		jest.setSystemTime(LIFETIME - 1);
		expect(await read(service)).toEqual(first);
		expect(requests).toHaveLength(1);
		jest.setSystemTime(LIFETIME + ANSWER_TIME);
		await settle(read(service));
		expect(requests).toHaveLength(2);
		const other = openAccount();
		await settle(read(other.service));
		expect(other.requests).toHaveLength(1);
	});

	it('is asked for again after an error, which is not remembered', async () => {
		let answer = (): Answer => BROKEN;
		const { service, requests } = openAccount((path) => answer() ?? answerFromCorpus(path));
		await expect(settle(read(service))).rejects.toThrow('no database');
		answer = () => undefined as unknown as Answer;
		await settle(read(service));
		expect(requests).toHaveLength(2);
	});
});

it('answers are remembered by their length, the newest ones', async () => {
	const openapi = { text: 'x'.repeat(200_000) };
	const { service, requests } = openAccount(() => ({ code: 200, data: { openapi } }));
	const read = async (index: number) => {
		const answer = readModelDocument(service, `model-${index}`);
		await jest.advanceTimersByTimeAsync(2_000);
		await answer;
	};
	const room = Math.floor(STORES.catalogue.most / weigh(openapi));
	for (let index = 0; index <= room; index++) await read(index);
	await read(1);
	expect(requests).toHaveLength(room + 1);
	await read(0);
	expect(requests).toHaveLength(room + 2);
});

it('a run asks once for all items, and for a minute not again when there is no description', async () => {
	const { service, requests } = openAccount();
	const find = async () => await readModelDocumentForRun(service, 'unheard-of');
	const items = Array.from({ length: 20 }, find);
	expect(await settle(Promise.all(items))).toEqual(items.map(() => undefined));
	expect(requests).toHaveLength(1);
	jest.setSystemTime(MINUTE + ANSWER_TIME - 1);
	await settle(find());
	expect(requests).toHaveLength(1);
	await settle(find());
	expect(requests).toHaveLength(2);
});

const build = (model: string, ...taskType: string[]) => ({ model, taskType });

const CAPTION = build('caption', 'Video to Text');
const CLIP = build('clip', 'Text to Video');
const ANIMATE = build('animate', 'Image to Video');
const PAINT = build('paint', 'Text to Image');
const SONG = build('song-5', 'Text to Music');
const SOUND = build('sound', 'Text to Music');
const SPEAK = build('speak/text-to-speech');
const all = [CAPTION, SOUND, ANIMATE, CLIP, PAINT, SONG, SPEAK];

it.each([
	['', all],
	['text to video', [CLIP, CAPTION]],
	[' Video  to TEXT ', [CAPTION, CLIP]],
	['photo to video', [ANIMATE]],
	['video of a photo', []],
	['pictures', [PAINT, ANIMATE]],
	['song', [SONG, SOUND]],
	['text-to-speech', [SPEAK]],
])('a search for "%s" finds what it means, those with the phrase first', async (filter, found) => {
	const models = [...all, build('talk', 'Chat')];
	const { service } = openAccount(() => ({ code: 200, data: { models } }));
	const result = await settle(findModels(service, filter));
	expect(result).toHaveLength(found.length);
	expect(result).toEqual(expect.arrayContaining(found));
	expect(result[0]).toEqual(found[0]);
});
