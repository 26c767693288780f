const fs = require('node:fs');
const path = require('node:path');
const { startPair } = require('../../dev/fixtures/pair.cts');
const { startScriptedModel } = require('../../dev/fixtures/scriptedModel.cts');

/** @type {Awaited<ReturnType<typeof startPair>>} */
let pair;

beforeAll(async () => {
	pair = await startPair({ service: { taskSeconds: 1 } });
});

afterAll(async () => {
	await pair?.stop();
});

/**
 * Imports an example as a user does, with the hosts that its notes ask to replace.
 * @param {string} name
 * @param {Record<string, import('../../dev/n8n/n8n.cts').Credential>} [credentials] more than our own
 */
async function importExample(name, credentials = {}) {
	const file = path.join(__dirname, '..', '..', 'examples', `${name}.json`);
	const text = fs
		.readFileSync(file, 'utf8')
		.replaceAll('https://your-n8n.example', pair.n8n.url)
		.replaceAll('https://media.example', pair.service.resultsUrl);
	return await pair.n8n.importWorkflow(JSON.parse(text), {
		credentials: { ...pair.credentials.credentials, ...credentials },
	});
}

it('create-a-task and when-a-task-ends go round', async () => {
	const ends = await importExample('when-a-task-ends');
	await pair.n8n.activate(ends.id);
	const create = await importExample('create-a-task');
	const created = await pair.n8n.waitForExecution(await pair.n8n.run(create.id));
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: ends.id, count: 1 });
	expect(execution?.getItems('Use the results')).toMatchObject([
		{ taskId: created.getItems('Create task')[0].taskId, status: 'completed' },
	]);
});

it('create-and-wait splits by status', async () => {
	pair.service.set({
		faultsFor: ({ input }) => (input.prompt === 'Make it snow' ? { fail: true } : {}),
	});
	const { id } = await importExample('create-and-wait');
	const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
	expect(execution.getItems('Use the results')).toMatchObject([
		{ status: 'completed' },
		{ status: 'completed' },
	]);
	expect(execution.getItems('Look into it')).toMatchObject([{ status: 'failed' }]);
	expect(execution.getItems('Look again later')).toEqual([]);
});

it('edit-an-uploaded-image goes from a form to a file', async () => {
	const { id } = await importExample('edit-an-uploaded-image');
	await pair.n8n.activate(id);
	const photo = fs.readFileSync(path.join(__dirname, '..', 'media', 'baseline.jpg'));
	const form = new FormData();
	form.append('field-0', new Blob([photo], { type: 'image/jpeg' }), 'me.jpg');
	form.append('field-1', 'Make it night');
	const url = `${pair.n8n.url}/form/8a1f7a52-3c0e-4b1e-9a55-2f6a1c9e7d20`;
	expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200);
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
	expect(execution?.getError()).toBeUndefined();
	expect([...pair.service.uploads.values()].at(-1)).toMatchObject({ size: photo.length });
	expect([...pair.service.tasks.values()].at(-1)?.input.prompt).toBe('Make it night');
	expect(execution?.getOutput('Get the file')).toMatchObject([
		{ binary: { data: { mimeType: 'image/png', fileType: 'image' } } },
	]);
});

it('batch-from-a-list makes a video of each row, and parts those that can not be sent', async () => {
	pair.service.set({ faultsFor: undefined });
	const { id } = await importExample('batch-from-a-list');
	const all = await pair.n8n.waitForExecution(await pair.n8n.run(id));
	expect(all.getItems('One row, one video')).toMatchObject([
		{ scene: 'A market at dawn', status: 'completed', video: expect.stringContaining('http') },
		{ scene: 'The same market at noon', status: 'completed' },
		{ scene: 'The market by night', status: 'completed' },
	]);
	const pinData = {
		Rows: [{ json: { scene: 'Good', seconds: 5 } }, { json: { scene: 'Bad', seconds: 'five' } }],
	};
	const some = await pair.n8n.waitForExecution(await pair.n8n.run(id, { pinData }));
	expect(some.getItems('One row, one video')).toMatchObject([
		{ scene: 'Good', status: 'completed' },
	]);
	expect(some.getItems('Rows to correct')).toMatchObject([
		{ scene: 'Bad', error: expect.stringContaining('Duration must be a whole number') },
	]);
});

it('ai-agent lets an agent make an image', async () => {
	const model = await startScriptedModel({ Prompt: 'Make it night' });
	try {
		const openAiApi = await pair.n8n.createCredential(model.credential);
		const { id } = await importExample('ai-agent', { openAiApi });
		await pair.n8n.activate(id);
		const chat = await pair.n8n.getWorkflow(id);
		chat.nodes = chat.nodes.map((node) =>
			node.type.endsWith('.chatTrigger')
				? { ...node, type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} }
				: node.type.endsWith('.agent')
					? {
							...node,
							parameters: { ...node.parameters, promptType: 'define', text: 'Make it night' },
						}
					: node,
		);
		const manual = await pair.n8n.importWorkflow({ ...chat, name: 'Agent by hand' });
		const execution = await pair.n8n.waitForExecution(await pair.n8n.run(manual.id));
		expect(execution.getItems('AI Agent')).toEqual([{ output: 'Done.' }]);
		expect(model.getToolResult()).toMatchObject([{ status: 'completed' }]);
	} finally {
		model.close();
	}
});

it('create-with-sweep uses each task once, also those whose callback never came', async () => {
	const { id } = await importExample('create-with-sweep');
	const workflow = await pair.n8n.getWorkflow(id);
	const recent = JSON.parse(JSON.stringify(workflow).replace('minutes: 60', 'minutes: 0'));
	const { id: sweepId } = await pair.n8n.importWorkflow({ ...recent, name: 'Sweep at once' });
	await pair.n8n.activate(id);
	const create = async () => {
		const execution = await pair.n8n.waitForExecution(
			await pair.n8n.run(id, { trigger: "When clicking 'Execute workflow'" }),
		);
		expect(execution.getError()).toBeUndefined();
		return execution.getItems('Create task')[0].taskId;
	};
	const used = async () => {
		const summaries = [
			...(await pair.n8n.listExecutions({ workflowId: id })),
			...(await pair.n8n.listExecutions({ workflowId: sweepId })),
		];
		const executions = await Promise.all(summaries.map((one) => pair.n8n.getExecution(one.id)));
		return executions.flatMap((one) => one.getItems('Use the result').map(({ taskId }) => taskId));
	};

	const called = await create();
	await pair.service.idle();
	pair.service.set({ faultsFor: () => ({ noCallback: true }) });
	const lost = await create();
	await pair.service.waitForTask(lost);
	for (let sweep = 0; sweep < 2; sweep++)
		await pair.n8n.waitForExecution(await pair.n8n.run(sweepId, { trigger: 'Every hour' }));
	expect(await used()).toEqual([called, lost]);
});
