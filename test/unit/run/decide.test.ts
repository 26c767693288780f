import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Credentials } from '../../../nodes/MediaGeneration/api/endpoints';
import { findObstacle } from '../../../nodes/MediaGeneration/host/resumeUrl';
import { decideFor, decideWait } from '../../../nodes/MediaGeneration/run/sleep/sleep';
import {
	beginLedger,
	type Attempt,
	type HowToWait,
} from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { beginRun } from '../../../nodes/MediaGeneration/run/open';
import { buildCall, buildItem, fake, WAIT, type Run as AnyRun } from '../n8n';

jest.mock('../../../nodes/MediaGeneration/host/resumeUrl', () => ({
	...jest.requireActual<object>('../../../nodes/MediaGeneration/host/resumeUrl'),
	findObstacle: jest.fn(),
}));
const ask = jest.mocked(findObstacle);
beforeEach(() => ask.mockReset().mockResolvedValue(undefined));
afterEach(() => jest.restoreAllMocks());

const PUBLIC = 'https://n8n.example/webhook-waiting/7';
const LOOPBACK = 'http://localhost:5678/webhook-waiting/7';
const LOCAL = 'http://n8n.local/webhook-waiting/7';
/** n8n's URL becomes our own. */
const own = (url: string) => `${url}/media-generation`;
/** The service in the internet, and one in the network. */
const API = 'https://api.example';
const LAN = 'http://10.0.0.1';

interface Run extends Pick<AnyRun, 'kept' | 'isTool'> {
	url?: string;
	/** The addresses of the services of its items. */
	services?: string[];
	/** The webhook can't read the credential again. */
	isUnreadable?: boolean;
}

const buildOwnCall = ({ url = PUBLIC, services = [API], isUnreadable, ...run }: Run) =>
	buildCall(run, {
		evaluateExpression: () => url,
		async getCredentials() {
			if (isUnreadable) throw new Error('no data');
			return { baseUrl: services[0] };
		},
		getMode: () => 'trigger',
		getParentNodes: () => [],
	});

/** Decides how a run waits. */
async function decide(run: Run, howToWait: HowToWait = 'callback') {
	const { services = [API] } = run;
	const call = buildOwnCall(run);
	const all = services.map((baseUrl) => ({ baseUrl }) as Credentials);
	return await decideFor(call, howToWait, all);
}

describe.each<HowToWait>(['automatic', 'callback'])('%s', (chosen) => {
	it.each<[string, Run]>([
		['the internet reaches n8n', {}],
		['both are on one machine', { url: LOOPBACK, services: ['http://127.0.0.1:9000'] }],
		['n8n has a name in the network of the service', { url: LOCAL, services: [LAN] }],
		['the internet reaches n8n, and the service is in its network', { services: [LAN] }],
	])('sleeps where %s', async (_, run) => {
		expect(await decide(run, chosen)).toEqual({ resumeUrl: own(run.url ?? PUBLIC) });
	});

	it('polls for an agent, which needs no reason', async () =>
		expect(await decide({ isTool: true }, chosen)).toEqual({}));

	it.each<[string, Run, string]>([
		["a run of n8n's Agents, without an execution", { kept: null }, "n8n can't let"],
		[
			"a credential that can't be read again",
			{ isUnreadable: true },
			'because the credential has expr',
		],
		[
			'several credentials',
			{ services: ['https://a.example', LAN] },
			'because the credential has expr',
		],
	])('polls for %s, and says why', async (_, run, reason) => {
		expect(await decide(run, chosen)).toEqual({ reason: expect.stringContaining(reason) });
		expect(ask).not.toHaveBeenCalled();
	});
});

it.each<Run>([{ url: LOOPBACK }, {}])('polling polls, which needs no reason: %j', async (run) =>
	expect(await decide(run, 'polling')).toEqual({}),
);

it.each([
	['on this machine alone', LOOPBACK],
	['in a network alone', LOCAL],
])('where n8n is %s, the run stays awake, and says what to do', async (_, url) => {
	const callbacks = `callbacks to ${new URL(url).origin} would not arrive`;
	const reason = expect.stringMatching(`^because ${callbacks}\\. .*WEBHOOK_URL`) as string;
	for (const chosen of ['automatic', 'callback'] as const)
		expect(await decide({ url }, chosen)).toEqual({ reason });
});

it('a service on another machine cannot reach an n8n without an address, which the user may know better', async () => {
	const run = { url: LOOPBACK, services: [LAN] };
	expect(await decide(run, 'automatic')).toMatchObject({ reason: expect.any(String) as string });
	expect(await decide(run, 'callback')).toEqual({ resumeUrl: own(LOOPBACK) });
});

it('where something else answers, automatic polls, and a callback sleeps all the same', async () => {
	ask.mockResolvedValue('it answers 302');
	expect(await decide({}, 'automatic')).toEqual({ reason: 'because it answers 302' });
	const asleep = { resumeUrl: own(PUBLIC), obstacle: 'it answers 302' };
	expect(await decide({}, 'callback')).toEqual(asleep);
	expect(ask).toHaveBeenCalledWith(own(PUBLIC), 3_000);
});

describe('a run with tasks', () => {
	const elsewhere: Attempt = { taskId: 'a', elsewhere: true };

	/** Decides for an item without a task and one with this task, of which one gets a further task. */
	async function decideAll(
		attempt: Attempt,
		{ planned = 0, failed = undefined as number | undefined, ofTask = API } = {},
	) {
		const call = buildOwnCall({});
		const ledger = beginLedger({
			entries: [{ attempts: [] }, { attempts: [attempt] }],
			settings: { ...WAIT, howToWait: 'callback' },
		});
		const serve = (baseUrl: string) => fake<TaskService>({ credentials: { baseUrl } });
		const run = { ...beginRun(call, ledger), getService: async () => serve(ofTask) };
		if (failed !== undefined) run.errors.set(failed, new Error('refused'));
		const item = { ...buildItem(call.context, planned), service: serve(API) };
		return await decideWait(run, [
			{ item, request: { model: 'm', input: {}, given: '' }, attempts: 0 },
		]);
	}

	it('of an earlier execution stays awake: the service calls that one back', async () => {
		expect(await decideAll(elsewhere)).toEqual({});
	});

	it.each<[string, Parameters<typeof decideAll>]>([
		['are its own', [{ taskId: 'a' }]],
		['have an error instead', [elsewhere, { failed: 1 }]],
		['are created again', [elsewhere, { planned: 1 }]],
	])('sleeps where they %s', async (_, given) => {
		expect(await decideAll(...given)).toEqual({ resumeUrl: own(PUBLIC) });
	});

	it('asks whether the accounts of all of them can be read again', async () => {
		const reason = expect.stringContaining('the credential has expr') as string;
		expect(await decideAll({ taskId: 'a' }, { ofTask: LAN })).toEqual({ reason });
	});
});
