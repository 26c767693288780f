import {
	hasText,
	LINK_KINDS,
	listTaskLinks,
	readResultLinks,
	toTask,
} from '../../../nodes/MediaGeneration/api/task';
import { taskRecord } from '../../../nodes/MediaGeneration/api/answers';

const ALL = Object.keys(LINK_KINDS);

/** An http link that ends in this name. */
const at = (name: string) => `https://cdn.example/${name}`;

/** A task's `resultUrls`, by the names of the files, and the kinds of the other links. */
function summarize(record: object) {
	const task = toTask('task', taskRecord.parse({ state: 'success', ...record }));
	expect(listTaskLinks(task, ['result']).map(({ url }) => url)).toEqual(task.resultUrls);
	const others = listTaskLinks(task, ALL).filter(({ url }) => !task.resultUrls?.includes(url));
	const name = (url: string) => url.replace(at(''), '');
	return {
		results: task.resultUrls?.map(name).join(' '),
		others: others.map(({ kind, url }) => `${kind} ${name(url)}`).join(' '),
	};
}

const song = (id: string) => ({
	id,
	title: `Song ${id}`,
	duration: 120.5,
	audio_url: at(`${id}.mp3`),
	stream_audio_url: at(`${id}-stream.mp3`),
	source_audio_url: at(`${id}-source.mp3`),
	image_url: at(`${id}.jpg`),
	tags: 'calm, https://not.example/a-link',
});

it.each<[string, unknown, string, string]>([
	['a result written as JSON again', JSON.stringify({ resultUrls: [at('a')] }), 'a', ''],
	['a cover as JSON', { video: at('a'), cover: JSON.stringify([at('c')]) }, 'a', 'preview c'],
	['songs', { data: [song('1'), song('2')] }, '1.mp3 2.mp3', 'preview 1.jpg preview 2.jpg'],
	[
		'songs that stream',
		{
			data: [' ', null].map((audio_url, id) => ({
				...song(`${id}`),
				audio_url,
				source_audio_url: '',
			})),
		},
		'0-stream.mp3 1-stream.mp3',
		'preview 0.jpg preview 1.jpg',
	],
	// A bad entry costs itself.
	['a list with null', { resultUrls: [null, at('a'), 7, '', {}, [], { url: at('b') }] }, 'a b', ''],
	['something other than links', { firstFrameUrl: 7, resultUrls: ['/a', 'ftp://a/b', ''] }, '', ''],
	[
		'links with blanks',
		{ video: at('a fox.mp4'), urls: [`${at('1')} ${at('2')}`] },
		'a%20fox.mp4',
		'',
	],
	[
		'a preview and a poster',
		{ url: at('a'), preview_url: at('p'), poster: at('c'), teaser: at('c') },
		'a',
		'preview p preview c',
	],
	['the picture of a video', { video_url: at('a'), image_url: at('c') }, 'a', 'preview c'],
	['a source', { source_image_url: at('1'), result_url: at('a'), origin_urls: [at('2')] }, 'a', ''],
	['a video of an image', { image_to_video_url: at('a'), url: at('b') }, 'a b', ''],
	[
		'addresses that are no files',
		{ hd: at('a'), status_url: at('1'), input: { image_url: at('4') }, page_url: at('6') },
		'a',
		'',
	],
	// Such links count where there is nothing else.
	['pages', { pages: [at('1'), { image_url: at('2') }], callback_url: at('x') }, '1 2', ''],
	['a source alone', { data: { source: at('a') }, input: { image_url: at('x') } }, 'a', ''],
	['no file', { callBackUrl: at('1'), source_webhook: at('2'), params: { a: at('3') } }, '', ''],
])('finds the files of %s', (_, result, results, others) => {
	for (const record of [
		{ resultJson: JSON.stringify(result) },
		{ resultJson: result },
		{ resultJson: '', response: result },
		{ resultJson: '{}', response: JSON.stringify(result) },
	])
		expect(summarize(record)).toEqual({ results, others });
});

it.each<[string, object, string, string]>([
	['a record without a result', { output: { url: at('a') }, callBackUrl: at('x') }, 'a', ''],
	['the best', { resultJson: { source: at('x') }, response: { url: at('a') } }, 'a', ''],
	['no address of a record with a result', { resultJson: 'done', request_url: at('x') }, '', ''],
	['a task that runs', { state: 'generating', output: { url: at('a') } }, '', ''],
])('reads %s', (_, record, results, others) => {
	expect(summarize(record)).toEqual({ results, others });
});

it.each<[unknown, boolean]>([
	['A fox.', true],
	[{ resultUrls: [], resultObject: { text: 'A fox.' } }, true],
	[{ choices: [{ message: { content: 'A fox.' }, finish_reason: 'stop' }] }, true],
	['/ is what divides: https://media.example', true],
	// Nothing, or links that lead nowhere.
	[' ', false],
	[{ resultUrls: ['/a.png', 'ftp://a/b', ''], text: ' ', seed: 7, model: 'm' }, false],
	[{ data: [{ id: '1', title: 'A song', tags: ['calm'], audio_url: '' }] }, false],
	// Why there is nothing.
	[{ raiMediaFilteredReasons: ['Sensitive words.'], raiMediaFilteredCount: 1 }, false],
	[{ moderation: { categories: ['violence'], text: 'Sensitive words.' } }, false],
])('of a result without links, says whether it has text: %j', (result, expected) => {
	expect(hasText(result)).toBe(expected);
});

it('reads at most a hundred links, of however many', () => {
	const resultUrls = Array.from({ length: 20_000 }, (_, index) => at(String(index)));
	const links = readResultLinks({ resultUrls, more: resultUrls });
	expect(links.map(({ url }) => url)).toEqual(resultUrls.slice(0, 100));
});

it('says of each file what the service says', () => {
	const facts = (id: string) => ({ id, title: `Song ${id}`, durationSeconds: 120.5 });
	expect(readResultLinks({ data: [song('1')] })).toStrictEqual([
		{ kind: 'result', url: at('1.mp3'), ...facts('1'), coverUrl: at('1.jpg') },
		{ kind: 'preview', url: at('1.jpg'), ...facts('1') },
	]);
});

it.each<[object, object]>([
	[{ duration_seconds: 7 }, { durationSeconds: 7 }],
	[{ audio_id: 7 }, { id: '7' }],
	[{ duration: 'long', title: ' ', id: null }, {}],
])('reads of a file %j', (said, facts) => {
	const url = at('a');
	expect(readResultLinks({ url, ...said })).toStrictEqual([{ kind: 'result', url, ...facts }]);
});

it.each<[string, object, Array<string | undefined>]>([
	[
		'its own before one for all',
		{ data: [song('1'), { audio_url: at('b') }], cover_url: at('x') },
		[at('1.jpg'), at('x')],
	],
	['that of another', { data: [song('1'), { audio_url: at('b') }] }, [at('1.jpg'), undefined]],
])('tells files their covers: %s', (_, result, covers) => {
	const results = readResultLinks(result).filter(({ kind }) => kind === 'result');
	expect(results.map(({ coverUrl }) => coverUrl)).toEqual(results.map((__, at) => covers[at]));
});
