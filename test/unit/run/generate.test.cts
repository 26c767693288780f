import { UserError } from 'n8n-workflow';
import { Account, NodeExecution, type Settings } from './failingRuns.cts';

const GOES_ON = { onError: 'continueRegularOutput' } as const;

/** Prepares an execution, by default of three good items. */
function begin(settings: Partial<Settings> = {}) {
	const all: Settings = { items: [['good'], ['good'], ['good']], ...settings };
	const account = new Account(all.items);
	return { account, execution: new NodeExecution(account, all) };
}

/** Reads items, of which this one can not be sent. */
const failAt = (wrong: number, error: Error) => (item: number) => {
	if (item === wrong) throw error;
	return { item };
};
const wrong = new UserError('No image', { description: 'Give one.' });

describe('a run that creates tasks', () => {
	it('and does not wait outputs them as they were created', async () => {
		const { account, execution } = begin({ operation: 'start', sleeps: true });
		const { output, sleeps } = await execution.run();
		const expected = [0, 1, 2].map((item) => ({
			json: { taskId: `task-${item}-1`, status: 'pending', model: 'a/b' },
			pairedItem: { item },
		}));
		expect(output).toMatchObject(expected);
		expect(sleeps).toBe(false);
		expect(account.sent.map(({ callBackUrl }) => callBackUrl)).toEqual(Array(3).fill(undefined));
	});

	it.each([
		[true, 'https://n8n.example/webhook-waiting/1/media-generation'],
		[false, undefined],
	])('and waits, asleep: %s, has them call the URL that was decided', async (sleeps, url) => {
		const { account, execution } = begin({ sleeps });
		const came = await execution.run();
		expect(account.sent.map(({ callBackUrl }) => callBackUrl)).toEqual([url, url, url]);
		expect(came.sleeps).toBe(sleeps);
		const { output } = sleeps ? await execution.wake() : came;
		expect(output.map(({ json }) => json.status)).toEqual(Array(3).fill('completed'));
	});

	it('puts an error of an item between the tasks of the others', async () => {
		const { execution } = begin({ items: [['good'], ['refused'], ['good']], ...GOES_ON });
		const { output } = await execution.run();
		expect(output).toMatchObject([
			{ json: { taskId: 'task-0-1', status: 'completed' }, pairedItem: { item: 0 } },
			{
				json: { error: expect.stringContaining('did not accept') as string },
				pairedItem: { item: 1 },
			},
			{ json: { taskId: 'task-2-1', status: 'completed' }, pairedItem: { item: 2 } },
		]);
	});

	it('waits for nothing once an error has ended it, and names the tasks that exist', async () => {
		const { account, execution } = begin({ items: [['endless'], ['refused'], ['good']] });
		const begun = Date.now();
		const { error } = await execution.run();
		expect(account.count()).toEqual([1, 1, 0]);
		expect(Date.now() - begun).toBeLessThan(30_000);
		expect(error?.message).toContain('[item 2 of 3]');
		expect(error?.description).toContain('task-0-1');
	});

	it('waits for nothing once it was stopped', async () => {
		const stop = new AbortController();
		const { account, execution } = begin({ sleeps: true, agent: { signal: stop.signal } });
		account.onCreation = () => stop.abort();
		const { output, sleeps } = await execution.run();
		expect(output).toMatchObject([{ json: { taskId: 'task-0-1', status: 'pending' } }]);
		expect([account.count(), sleeps]).toEqual([[1, 0, 0], false]);
	});

	it('checks all items, then what Options allow, and only then sends', async () => {
		const { account, execution } = begin({
			options: { keepCredits: 1, concurrency: 5 },
			read: (item) => {
				account.asked.push(`check ${item}`);
				return { item };
			},
		});
		await execution.run();
		// Fields may be read twice.
		const steps = account.asked.map((one) => one.split(' ')[0]);
		const order = steps.filter((step, index) => step !== steps[index - 1]);
		expect(order).toEqual(['check', 'credits', 'create']);
		expect(account.count()).toEqual([1, 1, 1]);
	});

	it('creates nothing where an item behind the others can not be sent', async () => {
		const { account, execution } = begin({
			read: failAt(2, wrong),
			options: { keepCredits: 1, maxTasksPerRun: 3 },
		});
		expect((await execution.run()).error?.message).toBe('No image [item 3 of 3]');
		expect(account.asked).toEqual([]);
		expect(execution.ledger.shared.count).toBe(0);
	});

	it('creates nothing where its wait is refused', async () => {
		for (const more of [{}, GOES_ON]) {
			const { account, execution } = begin({ sleeps: true, ...more });
			execution.resumeUrl = 'http://localhost:5678/webhook-waiting/1';
			const { error, output } = await execution.run();
			const errors = error ? [error.message] : output.map(({ json }) => json.error);
			expect(errors).toEqual(
				Array(error ? 1 : 3).fill(expect.stringContaining("can't reach this n8n")),
			);
			expect(account.asked).toEqual([]);
		}
	});

	it('names its tasks where n8n could not let it sleep', async () => {
		for (const more of [{}, GOES_ON]) {
			const { execution } = begin({ sleeps: true, ...more });
			execution.onSleep = () => {
				throw new Error('No active execution');
			};
			const { error, output } = await execution.run();
			const said = JSON.stringify([error?.message, error?.description, output]);
			for (const text of ['No active execution', 'task-0-1', 'task-1-1', 'task-2-1'])
				expect(said).toContain(text);
		}
	});
});

it('a try reads nothing but the credential of an item that has a task', async () => {
	const read: number[] = [];
	const { account, execution } = begin({
		items: [['good'], ['refused', 'good']],
		maxTries: 2,
		read: (item) => {
			read.push(item);
			return { item };
		},
	});
	execution.betweenTries = () => {
		read.splice(0, Infinity);
		execution.credentials.splice(0, Infinity);
	};
	const { output } = await execution.run();
	expect(output.map(({ json }) => json.taskId)).toEqual(['task-0-1', 'task-1-2']);
	expect(account.count()).toEqual([1, 2]);
	expect(new Set(read)).toEqual(new Set([1]));
	expect([...execution.credentials].sort()).toEqual([0, 1]);
});

describe('Maximum Tasks per Run', () => {
	it('counts what exists or may exist, and nothing that was refused or not sent', async () => {
		const options = { maxTasksPerRun: 3 };
		const goesOn = begin({ items: [['good'], ['unknown'], ['refused']], options, ...GOES_ON });
		await goesOn.execution.run();
		expect(goesOn.execution.ledger.shared.count).toBe(2);
		const stops = begin({ items: [['refused'], ['good'], ['good']], options });
		await stops.execution.run();
		expect(stops.execution.ledger.shared.count).toBe(0);
	});

	it('refuses the items of a loop, or ends the run', async () => {
		for (const more of [{}, GOES_ON]) {
			const { account, execution } = begin({ options: { maxTasksPerRun: 5 }, ...more });
			await execution.run();
			const loop = execution.loop();
			const { error, output } = await loop.run();
			const errors = error ? [error.message] : output.map(({ json }) => json.error);
			expect(errors).toEqual(
				Array(error ? 1 : 3).fill(
					expect.stringContaining("'Maximum Tasks per Run' in Options is 5"),
				),
			);
			expect(account.count()).toEqual([1, 1, 1]);
			expect(loop.ledger.shared.count).toBe(3);
		}
	});
});

describe('a woken run', () => {
	const described = Object.assign(new Error('Wrong'), { description: 'Said by n8n' });

	it.each<[string, Partial<Settings>]>([
		['of a field', { read: failAt(1, wrong) }],
		["of n8n's", { read: failAt(1, described) }],
		['of the service', { items: [['good'], ['refused'], ['good']] }],
		['of unknown outcome', { items: [['good'], ['unknown'], ['good']] }],
	])('creates nothing, and outputs an error %s again', async (_, settings) => {
		const { account, execution } = begin({ sleeps: true, ...GOES_ON, ...settings });
		const asleep = await execution.run();
		expect(asleep.sleeps).toBe(true);
		expect(asleep.output[1]?.json.error).toEqual(expect.any(String));
		const { length } = account.sent;
		const woken = await execution.wake();
		expect(woken.output[1]).toEqual(asleep.output[1]);
		expect(woken.output.map(({ json }) => json.status)).toEqual([
			'completed',
			undefined,
			'completed',
		]);
		expect(account.sent).toHaveLength(length);
	});

	/** Runs a node until it sleeps; the webhook has seen the ends of these items' tasks. */
	async function sleepAndEnd(
		ended: number[],
		settings: Partial<Settings> = {},
		host = 'files.example',
	) {
		const { account, execution } = begin({ sleeps: true, ...GOES_ON, ...settings });
		expect((await execution.run()).sleeps).toBe(true);
		for (const item of ended) {
			const [attempt] = execution.ledger.entries[item]?.attempts ?? [];
			const { taskId = '' } = attempt ?? {};
			const resultUrls = [`http://${host}/${taskId}.png`, `http://${host}/again/${taskId}.png`];
			Object.assign(attempt ?? {}, { end: { taskId, status: 'completed', resultUrls } });
		}
		execution.credentials.splice(0, Infinity);
		execution.settings.read = () => {
			throw new Error('Read again');
		};
		return { account, execution };
	}

	it('outputs ended tasks and their files without reading credential or fields', async () => {
		const { execution } = await sleepAndEnd([0, 1, 2]);
		const { output } = await execution.wake();
		expect(output).toMatchObject(
			[0, 1, 2].map((item) => ({
				json: { taskId: `task-${item}-1`, status: 'completed' },
				binary: { data: { data: 'file' }, data_1: { data: 'file' } },
			})),
		);
		expect(execution.credentials).toEqual([]);
	});

	it.each([
		['the link to its file is refused', 'expired', 'files.example', 'expired'],
		['its links lead into this network', 'good', '10.0.0.1', 'inside'],
	] as const)('reads the credential of an item once if %s', async (_, fate, host, reason) => {
		const { execution } = await sleepAndEnd([0], { items: [[fate]] }, host);
		const { output } = await execution.wake();
		expect(output[0]?.json.downloadError).toContain(reason);
		expect(execution.credentials).toEqual([0]);
	});

	it('reads at its limit the credentials of tasks that it asks for', async () => {
		const items: Settings['items'] = [['good'], ['endless'], ['endless']];
		const { execution } = await sleepAndEnd([0], { items });
		const { output } = await execution.wake();
		expect(output.map(({ json }) => json.status)).toEqual(['completed', 'timedOut', 'timedOut']);
		expect([...execution.credentials].sort()).toEqual([1, 2]);
	});

	it('outputs why it could not ask, if a credential can not be read', async () => {
		const { execution } = await sleepAndEnd([], { items: [['endless']], failedTasks: 'output' });
		execution.onCredential = () => {
			throw new Error('The vault is closed');
		};
		const { output } = await execution.wake();
		const lookError = 'The vault is closed';
		expect(output).toMatchObject([{ json: { taskId: 'task-0-1', status: 'timedOut', lookError } }]);
	});
});
