const fs = require('node:fs');
const path = require('node:path');
const { startPair } = require('./harness');

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
 */
async function importExample(name) {
	const file = path.join(__dirname, '..', '..', 'examples', `${name}.json`);
	const text = fs
		.readFileSync(file, 'utf8')
		.replaceAll('https://your-n8n.example', pair.n8n.url)
		.replaceAll('https://media.example', pair.service.resultsUrl);
	return await pair.n8n.importWorkflow(JSON.parse(text), pair.credentials);
}

it('create-a-task and when-a-task-ends go round', async () => {
	const ends = await importExample('when-a-task-ends');
	await pair.n8n.activate(ends.id);
	const create = await importExample('create-a-task');
	const created = await pair.n8n.waitForExecution(await pair.n8n.run(create.id));
	const [execution] = await pair.n8n.waitForExecutions({ workflowId: ends.id, count: 1 });
	expect(execution?.items('Use the results')).toMatchObject([
		{ taskId: created.items('Create task')[0].taskId, status: 'completed' },
	]);
});

it('create-and-wait splits by status', async () => {
	pair.service.set({
		faultsFor: ({ input }) => (input.prompt === 'Make it snow' ? { fail: true } : {}),
	});
	const { id } = await importExample('create-and-wait');
	const execution = await pair.n8n.waitForExecution(await pair.n8n.run(id));
	expect(execution.items('Use the results')).toMatchObject([
		{ status: 'completed' },
		{ status: 'completed' },
	]);
	expect(execution.items('Look into it')).toMatchObject([{ status: 'failed' }]);
	expect(execution.items('Look again later')).toEqual([]);
});
