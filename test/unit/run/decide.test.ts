import { findObstacle } from '../../../nodes/MediaGeneration/host/resumeUrl';
import { decideByCall } from '../../../nodes/MediaGeneration/run/sleep/sleep';
import type { HowToWait } from '../../../nodes/MediaGeneration/run/ledger/ledger';
import { buildCall, type RunSetup } from '../n8n';

jest.mock('../../../nodes/MediaGeneration/host/resumeUrl', () => ({
	...jest.requireActual<object>('../../../nodes/MediaGeneration/host/resumeUrl'),
	findObstacle: jest.fn(),
}));
const ask = jest.mocked(findObstacle);
beforeEach(() => ask.mockReset().mockResolvedValue(undefined));

const PUBLIC = 'https://n8n.example/webhook-waiting/7';
const LOOPBACK = 'http://localhost:5678/webhook-waiting/7';
const LOCAL = 'http://n8n.local/webhook-waiting/7';
/** Makes our own URL of n8n's. */
const toOwnUrl = (url: string) => `${url}/media-generation`;
/** The service in the internet, and a service in the network. */
const API = 'https://api.example';
const LAN = 'http://10.0.0.1';

interface RunFacts extends Pick<RunSetup, 'contextData' | 'type'> {
	url?: string;
	/** The addresses of the services of its items. */
	services?: string[];
	/** The webhook can't read the credential again. */
	isUnreadable?: boolean;
}

/** Decides how a run waits. */
async function decide(
	{ url = PUBLIC, services = [API], isUnreadable, ...run }: RunFacts,
	howToWait: HowToWait = 'callback',
) {
	const call = buildCall(run, {
		evaluateExpression: () => url,
		async getCredentials() {
			if (isUnreadable) throw new Error('no data');
			return { baseUrl: services[0] };
		},
	});
	const all = services.map((baseUrl) => ({ baseUrl }));
	return await decideByCall(call, howToWait, all);
}

describe.each<HowToWait>(['automatic', 'callback'])('%s', (howToWait) => {
	it.each<[string, RunFacts]>([
		['the internet reaches n8n', {}],
		['both are on one machine', { url: LOOPBACK, services: ['http://127.0.0.1:9000'] }],
		['n8n has a name in the network of the service', { url: LOCAL, services: [LAN] }],
		['the internet reaches n8n, and the service is in its network', { services: [LAN] }],
	])('sleeps where %s', async (_, run) => {
		expect(await decide(run, howToWait)).toEqual({ resumeUrl: toOwnUrl(run.url ?? PUBLIC) });
	});

	it('polls for an agent, which needs no reason', async () => {
		expect(await decide({ type: 'pkg.mediaGenerationTool' }, howToWait)).toEqual({});
	});

	it.each<[string, RunFacts, string]>([
		["a run of n8n's Agents, without an execution", { contextData: null }, "n8n can't let"],
		["a credential that can't be read again", { isUnreadable: true }, 'the credential has expr'],
		['several credentials', { services: ['https://a.example', LAN] }, 'the credential has expr'],
	])('polls for %s, and says why', async (_, run, reason) => {
		expect(await decide(run, howToWait)).toEqual({ reason: expect.stringContaining(reason) });
		expect(ask).not.toHaveBeenCalled();
	});
});

it.each([
	['on this machine alone', LOOPBACK],
	['in a network alone', LOCAL],
])('where n8n is %s, the run stays awake, and says what to do', async (_, url) => {
	const callbacks = `callbacks to ${new URL(url).origin} would not arrive`;
	const reason = expect.stringMatching(`^${callbacks}\\. .*WEBHOOK_URL`) as string;
	for (const howToWait of ['automatic', 'callback'] as const)
		expect(await decide({ url }, howToWait)).toEqual({ reason });
});

it('a service on another machine cannot reach an n8n without an address, which the user may know better', async () => {
	const run = { url: LOOPBACK, services: [LAN] };
	expect(await decide(run, 'automatic')).toMatchObject({ reason: expect.any(String) as string });
	expect(await decide(run, 'callback')).toEqual({ resumeUrl: toOwnUrl(LOOPBACK) });
});

it('where something else answers, automatic polls, and a callback sleeps all the same', async () => {
	ask.mockResolvedValue('it answers 302');
	expect(await decide({}, 'automatic')).toEqual({ reason: 'it answers 302' });
	const asleep = { resumeUrl: toOwnUrl(PUBLIC), obstacle: 'it answers 302' };
	expect(await decide({}, 'callback')).toEqual(asleep);
	expect(ask).toHaveBeenCalledWith(toOwnUrl(PUBLIC), 3_000);
});
