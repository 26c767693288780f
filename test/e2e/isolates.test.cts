import fs from 'node:fs';
import path from 'node:path';
import { postJson } from '../../dev/fixtures/callbacks.cts';
import { listRows } from '../../dev/fixtures/night.cts';
import { TOKEN } from '../../dev/fixtures/pair.cts';
import { connect, generate, httpRequest, WAIT, webhook } from '../../dev/fixtures/workflows.cts';
import { WITHOUT_CODE } from '../../dev/n8n/process.cts';
import type { WorkflowNode } from '../../dev/n8n/workflow.cts';
import { openFolder } from '../../dev/pack.cts';
import { isOldest, usePair } from './support.cts';

/** An isolate is what n8n evaluates expressions in. Each costs it some 45 ms of processor time. */
const COUNTER = path.resolve('dev/fixtures/countIsolates.cjs');

interface Setting {
	title: string;
	env: Record<string, string>;
	/** The isolates of an execution with one callback, at most. */
	most: number;
	ofAnotherCallback: number;
}

const AS_IT_COMES: Setting = { title: 'as n8n comes', env: {}, most: 3, ofAnotherCallback: 1 };

/** In queue mode, test/queue shows the other one on each push. */
const SETTINGS = listRows(
	[
		AS_IT_COMES,
		{
			title: 'where n8n sets up isolates when they are needed',
			env: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
			most: 0,
			ofAnotherCallback: 0,
		},
	],
	AS_IT_COMES,
);

/** The oldest n8n that we support evaluates expressions without isolates. */
(isOldest ? describe.skip : describe).each(SETTINGS)(
	'$title',
	({ env, most, ofAnotherCallback }) => {
		const folder = openFolder();
		afterAll(() => folder[Symbol.dispose]());
		const file = path.join(folder.path, 'isolates');
		const counting = { NODE_OPTIONS: `--require ${COUNTER}`, ISOLATES_FILE: file };
		const pair = usePair({
			env: { ...WITHOUT_CODE, ...env, ...counting },
			service: { taskSeconds: 2 },
		});

		const count = () =>
			fs.readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n').length - 1;

		/** Counts the isolates of an execution that a webhook starts, which sleeps until the callback. */
		async function countIn(...nodes: WorkflowNode[]) {
			const { id, url } = await pair.activate(connect('Isolates', [webhook(), ...nodes]));
			const before = count();
			await postJson(url, {});
			const [execution] = await pair.n8n.waitForExecutions({ workflowId: id, count: 1 });
			expect(execution?.status).toBe('success');
			return count() - before;
		}

		const sleeping = (prompt: string) =>
			generate({ anyInput: JSON.stringify({ prompt }), options: { howToWait: 'callback' } });

		const byHand = () => [
			httpRequest({
				method: 'POST',
				url: `${pair.service.url}/api/v1/jobs/createTask`,
				sendHeaders: true,
				headerParameters: { parameters: [{ name: 'Authorization', value: `Bearer ${TOKEN}` }] },
				sendBody: true,
				specifyBody: 'json',
				jsonBody:
					'={{ { model: "custom/any", callBackUrl: $execution.resumeUrl, input: { prompt: "bench" } } }}',
			}),
			WAIT,
		];

		it('an execution that sleeps for one task sets up no more isolates than the flow by hand', async () => {
			const ours = await countIn(sleeping('one'));
			const theirs = await countIn(...byHand());
			expect(theirs).toBeGreaterThan(0);
			expect(ours).toBeLessThanOrEqual(most);
			expect(ours).toBeLessThanOrEqual(theirs);
			// It slept, and its callback woke it.
			expect(pair.findTask('one').callbacks.at(-1)?.status).toBe(200);
		});

		it('a further callback adds the isolate that n8n sets up for any webhook', async () => {
			const ours = await countIn(sleeping('one #callbackTwice'));
			expect(ours).toBeLessThanOrEqual(most + ofAnotherCallback);
		});
	},
);
