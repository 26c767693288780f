import { call, createAndAsk, DETAILS, readAnswer, start } from './support.cts';

test.each<[prompt: string, status: number, details: object]>([
	['#hidden=60', 200, { code: 422, msg: 'recordInfo is null', data: null }],
	['#hidden=60 #hiddenAs=notFound', 404, { code: 404, data: null }],
	['#hidden=60 #hiddenAs=null', 200, { code: 200, data: null }],
	['#recordCode=505 #slow=60', 200, { code: 505, data: { state: 'waiting' } }],
])('details right after the creation: %s', async (prompt, status, details) => {
	expect(await createAndAsk(await start(), prompt)).toMatchObject({ status, details });
});

/** Runs a task to its end, and returns how its file is answered, again and again. */
async function finish(prompt: string, requests: number) {
	const service = await start();
	const { taskId } = await createAndAsk(service, prompt);
	await service.waitForTask(taskId);
	const { data } = await readAnswer(await call(service, `${DETAILS}?taskId=${taskId}`));
	const { resultJson } = data as { resultJson: string };
	const { resultUrls } = JSON.parse(resultJson) as { resultUrls: [string] };
	const answers = [];
	for (let request = 0; request < requests; request++) {
		const response = await fetch(resultUrls[0]);
		const size = await response.arrayBuffer().then(
			({ byteLength }) => byteLength,
			() => 'broken',
		);
		answers.push({ status: response.status, size });
	}
	return answers;
}

test.each<[prompt: string, answers: object[]]>([
	['#fileFails=2', [{ status: 404 }, { status: 404 }, { status: 200 }]],
	['#fileFails=1 #fileDrops=1', [{ status: 404 }, { size: 'broken' }, { status: 200 }]],
	['#fileEmpty', [{ status: 200, size: 0 }]],
])('files that hiccup: %s', async (prompt, answers) => {
	expect(await finish(prompt, answers.length)).toMatchObject(answers);
});
