import { runNode } from './runNode.cts';

const resultUrls = ['https://files.example/a.png', 'https://files.example/b.png'];
const record = { taskId: 'task', state: 'success', resultJson: { resultUrls } };
const task = { taskId: 'task', status: 'completed', resultUrls };
const perFile = resultUrls.map((url, index) => ({ ...task, file: { index, url } }));
const PER_FILE = { options: { outputItems: 'perFile' } };

it.each<[string, object, object, object[]]>([
	['Get is the task', { operation: 'get' }, {}, [task]],
	['Get is an item for each file', { operation: 'get', ...PER_FILE }, {}, perFile],
	[
		'Get is the record with Simplify off',
		{ operation: 'get', simplify: false, ...PER_FILE },
		{},
		[record],
	],
	// n8n has no place for files there.
	[
		'Get Files has links where there is no execution',
		{ operation: 'getFiles', files: ['result'], binaryPropertyName: 'data' },
		{ contextData: null, type: 'nodeTool' },
		resultUrls.map((url) => ({ taskId: 'task', file: { url } })),
	],
])('the output of %s', async (_, parameters, run, expected) => {
	const answer = () => ({ code: 200, data: record });
	const { items, requests } = await runNode(
		{ taskId: ' task\n', ...parameters },
		{ ...run, answer },
	);
	expect(items).toMatchObject(expected);
	expect(requests).toEqual(['/api/v1/jobs/recordInfo?taskId=task']);
});

describe.each([
	{ operation: 'get' },
	{ operation: 'get', simplify: false },
	{ operation: 'getFiles', files: ['result'], binaryPropertyName: 'data' },
])('the error for %j', (parameters) => {
	it.each([
		[
			'an unknown task to check the ID',
			{ code: 422, msg: 'recordInfo is null' },
			/has no task with this ID.*Check Task ID/,
		],
		['a page to check the paths', '<html>', /isn't JSON from the task service.*/],
	])('says of %s', async (_, body, words) => {
		const { error } = await runNode({ taskId: 'task', ...parameters }, { answer: () => body });
		expect(`${error?.message} ${error?.description}`).toMatch(words);
	});
});
