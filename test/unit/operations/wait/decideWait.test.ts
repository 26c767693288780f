import type { TaskService } from '../../../../nodes/MediaGeneration/api/client';
import {
	decideWait,
	type HowToWait,
} from '../../../../nodes/MediaGeneration/operations/wait/decideWait';
import { findObstacle } from '../../../../nodes/MediaGeneration/operations/wait/findObstacle';
import { buildContext, type Run as AnyRun } from '../../context';

jest.mock('../../../../nodes/MediaGeneration/operations/wait/findObstacle');
const obstacle = jest.mocked(findObstacle);
beforeEach(() => obstacle.mockReset());

const PUBLIC = 'https://n8n.example/webhook-waiting/7';
const LOOPBACK = 'http://localhost:5678/webhook-waiting/7';
const LOCAL = 'http://n8n.local/webhook-waiting/7';
/** n8n's URL becomes our own. */
const own = (url: string) => `${url}/media-generation`;
/** A service in the network. */
const LAN = 'http://10.0.0.1';

interface Run extends Pick<AnyRun, 'kept' | 'isTool'> {
	url?: string;
	/** The addresses of the services of its items. */
	services?: string[];
	/** The webhook can't read the credential again. */
	isUnreadable?: boolean;
}

/** Decides how a run waits. */
async function decide(run: Run, howToWait: HowToWait = 'callback') {
	const { services = ['https://api.example'] } = run;
	const context = buildContext(run, {
		evaluateExpression: () => run.url ?? PUBLIC,
		async getCredentials() {
			const { connectionInputData } = this as { connectionInputData?: object };
			if (connectionInputData || run.isUnreadable) throw new Error('no data');
			return { baseUrl: services[0] };
		},
		getMode: () => 'trigger',
		getParentNodes: () => [],
	});
	Object.assign(context, { connectionInputData: [{}] });
	const all = services.map((baseUrl) => ({ credentials: { baseUrl } }) as TaskService);
	return await decideWait(context, howToWait, all);
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

	it.each<[string, Run, string]>([
		['an agent, as whoever waits', { isTool: true }, 'an AI agent waits'],
		["a run of n8n's Agents, without an execution", { kept: null }, 'no execution'],
		["a credential that can't be read again", { isUnreadable: true }, 'credential has expr'],
		['several credentials', { services: ['https://a.example', LAN] }, 'credential has expr'],
	])('polls for %s, and says why', async (_, run, reason) => {
		expect(await decide(run, chosen)).toEqual({ reason: expect.stringContaining(reason) });
		expect(obstacle).not.toHaveBeenCalled();
	});
});

it.each<Run>([{ url: LOOPBACK }, { isTool: true }, {}])(
	'polling polls, which needs no reason: %j',
	async (run) => expect(await decide(run, 'polling')).toEqual({}),
);

it.each([
	['on this machine alone', LOOPBACK],
	['in a network alone', LOCAL],
])(
	'where n8n is %s, automatic polls, a callback is an error, and both say what to do',
	async (_, url) => {
		const unreached = `service can't reach this n8n: callbacks would go to ${new URL(url).origin}`;
		const reason = expect.stringMatching(`^the ${unreached}\\. .*WEBHOOK_URL`) as string;
		expect(await decide({ url }, 'automatic')).toEqual({ reason });
		await expect(decide({ url }, 'callback')).rejects.toMatchObject({
			message: `The ${unreached}`,
			description: expect.stringMatching(/^Nothing was created.*WEBHOOK_URL.*Automatic/) as string,
		});
	},
);

it('a service on another machine cannot reach an n8n without an address, which the user may know better', async () => {
	const run = { url: LOOPBACK, services: [LAN] };
	expect(await decide(run, 'automatic')).toMatchObject({ reason: expect.any(String) as string });
	expect(await decide(run, 'callback')).toEqual({ resumeUrl: own(LOOPBACK) });
});

it('with an obstacle on the way automatic polls, and a callback sleeps all the same', async () => {
	obstacle.mockResolvedValue('it answers 302');
	expect(await decide({}, 'automatic')).toEqual({ reason: 'it answers 302' });
	const decision = { resumeUrl: own(PUBLIC), reason: 'it answers 302' };
	expect(await decide({}, 'callback')).toEqual(decision);
	expect(obstacle).toHaveBeenCalledWith(own(PUBLIC));
});
