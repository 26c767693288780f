import { createHmac } from 'node:crypto';
import { median } from 'simple-statistics';
import { Webhook } from 'standardwebhooks';
import { webhooks } from 'stripe';
import { createEndedTask } from '../dev/fixtures/callbacks.cts';
import { TOKEN } from '../dev/fixtures/pair.cts';
import type * as signatureModule from '../nodes/MediaGeneration/callback/signature';
import type * as verifyModule from '../nodes/MediaGeneration/callback/verify';
import { openService, requireBuilt } from './fixtures.cts';
import { interleave, type Row } from './measure.cts';

const ROUNDS = 201;
const CALLS = 1_000;

const KEY = 'whsec-0123456789abcdef0123456789abcdef';

const { verifyCallback } = requireBuilt('./callback/verify') as typeof verifyModule;
const { findMatchingSecret, sign } = requireBuilt('./callback/signature') as typeof signatureModule;

/** An ES module, whose types TypeScript does not find with its older module resolution. */
const GITHUB: string = '@octokit/webhooks-methods';

interface GitHub {
	sign: (key: string, body: string) => Promise<string>;
	verify: (key: string, body: string, signature: string) => Promise<boolean>;
}

/** Measures the microseconds that each way takes, in each of the rounds. */
const measureMicroseconds = async <Name extends string>(ways: Record<Name, () => unknown>) =>
	await interleave(ways, { rounds: ROUNDS }, async (way) => {
		const begun = performance.now();
		for (let call = 0; call < CALLS; call++) {
			const verdict = way();
			if (verdict instanceof Promise) await verdict;
		}
		return ((performance.now() - begun) * 1_000) / CALLS;
	});

function expectAccepted<Verdict>(verdict: Verdict) {
	if (!verdict || (typeof verdict === 'object' && 'accepted' in verdict && !verdict.accepted))
		throw new Error('A genuine callback was refused');
	return verdict;
}

/** Prepares the ways to verify a callback with this body. */
async function prepare(taskId: string, content: object) {
	const github = (await import(GITHUB)) as GitHub;
	const body = JSON.stringify(content);
	const seconds = String(Math.floor(Date.now() / 1_000));
	const signature = sign(taskId, seconds, KEY);
	const common = { host: 'n8n.example', 'content-type': 'application/json' };
	const headers = { ...common, 'x-webhook-timestamp': seconds, 'x-webhook-signature': signature };
	const secrets = { current: KEY };
	const findSecret = () => expectAccepted(findMatchingSecret(signature, taskId, seconds, secrets));
	const verify = (secrets: signatureModule.SigningSecrets | undefined, parsed: unknown) =>
		expectAccepted(
			verifyCallback(headers, parsed, { secrets, toleranceSeconds: 300, now: Date.now() }),
		);
	const parsed: unknown = JSON.parse(body);

	const standard = new Webhook(KEY, { format: 'raw' });
	const standardHeaders = {
		...common,
		'webhook-id': taskId,
		'webhook-timestamp': seconds,
		'webhook-signature': standard.sign(taskId, new Date(Number(seconds) * 1_000), body),
	};
	const stripeHeader = webhooks.generateTestHeaderString({ payload: body, secret: KEY });
	const githubSignature = await github.sign(KEY, body);
	const verifyGithub = async () => expectAccepted(await github.verify(KEY, body, githubSignature));

	const signatures = {
		ours: findSecret,
		stripe: () => expectAccepted(webhooks.signature?.verifyHeader(body, stripeHeader, KEY)),
		standardwebhooks: () => standard.verify(body, standardHeaders, { jsonParse: false }),
		[GITHUB]: verifyGithub,
	};
	const verdicts = {
		ours: () => verify(secrets, JSON.parse(body)),
		stripe: () => webhooks.constructEvent(body, stripeHeader, KEY),
		standardwebhooks: () => standard.verify(body, standardHeaders),
		[GITHUB]: async () => (await verifyGithub()) && (JSON.parse(body) as unknown),
	};
	const parts = {
		hash: () => createHmac('sha256', KEY).update(`${taskId}.${seconds}`).digest('base64'),
		matched: findSecret,
		verdict: () => verify(secrets, parsed),
		unsigned: () => verify(undefined, parsed),
	};
	return { bytes: body.length, signatures, verdicts, parts };
}

/**
 * Compares ours with the fastest of the others, by the median of the ratios of each round: a machine that is slower for a
 * moment is so for all of a round.
 */
async function compareFastest(name: string, verifiers: Record<string, () => unknown>) {
	const { ours = [], ...others } = await measureMicroseconds(verifiers);
	const perSecond = (times: number[]) => Math.round(1e6 / median(times)).toLocaleString('en');
	const ratios = Object.values(others).map((other) =>
		median(ours.map((time, round) => (other[round] ?? NaN) / time)),
	);
	const listed = Object.entries(others).map(([whose, times]) => `${whose} ${perSecond(times)}`);
	return {
		name: `${name}, of the fastest of the others`,
		value: Math.min(...ratios),
		goal: { atLeast: 1 },
		figures: `a second, medians of ${ROUNDS} rounds: ${perSecond(ours)}; ${listed.join(', ')}`,
	};
}

/** Returns the body of a callback that is the contract's, and of one that holds the whole record of its task too. */
async function createBodies() {
	await using service = await openService({ taskSeconds: 0 });
	const taskId = await createEndedTask(service, { prompt: 'Make it rain. '.repeat(12) });
	const response = await fetch(`${service.url}/api/v1/jobs/recordInfo?taskId=${taskId}`, {
		headers: { Authorization: `Bearer ${TOKEN}` },
	});
	const { data: record } = (await response.json()) as { data: object };
	const data = { task_id: taskId, callbackType: 'task_completed' };
	const contract = { taskId, code: 200, msg: 'success', data };
	return { taskId, contract, whole: { ...contract, data: { ...data, ...record } } };
}

/**
 * Verdicts per second on a genuine callback beside the verifiers of Standard Webhooks, Stripe and GitHub, with bodies of the
 * same size, each signed its own way: our service signs `taskId.timestamp` only, so our hash doesn't grow with the body.
 *
 * From the raw body to a verdict, each also parses the JSON. Our verdict holds the headers, the timestamp, both ids and the
 * depth of the body; Stripe and Standard Webhooks check the timestamp, GitHub's has none.
 */
export async function bench(): Promise<Row[]> {
	const { taskId, contract, whole } = await createBodies();
	const short = await prepare(taskId, contract);
	const long = await prepare(taskId, whole);
	const parts = await measureMicroseconds(long.parts);
	const hash = median(parts.hash);
	const showPart = (name: string, of: keyof typeof parts, less: number): Row => ({
		name: `${name}, of one HMAC`,
		value: (median(parts[of]) - less) / hash,
		goal: { atMost: 1 },
		figures: `${median(parts[of]).toFixed(2)} µs, less ${less.toFixed(2)} µs; one HMAC ${hash.toFixed(2)} µs`,
	});
	return [
		await compareFastest(`Verdicts on the contract's body of ${short.bytes} bytes`, short.verdicts),
		await compareFastest(`Verdicts on a whole record of ${long.bytes} bytes`, long.verdicts),
		await compareFastest(`Signatures alone, body of ${short.bytes} bytes`, short.signatures),
		await compareFastest(`Signatures alone, body of ${long.bytes} bytes`, long.signatures),
		showPart('All checks besides the signature', 'unsigned', 0),
		showPart('The whole verdict without its HMAC', 'verdict', hash),
		showPart('The comparison in constant time', 'matched', hash),
	];
}
