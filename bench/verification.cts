const { createHmac, randomBytes } = require('node:crypto');
const path = require('node:path');
const { Webhook } = require('standardwebhooks');
const { webhooks } = require('stripe');
const { median } = require('./statistics.cts');

/**
 * Verdicts per second on a genuine callback beside the verifiers of Standard Webhooks, Stripe and GitHub, in interleaved
 * rounds of one process, with bodies of the same size. Each gets a message that was signed its own way: theirs sign the
 * body, our service signs `taskId.timestamp` only, so our hash doesn't grow with the body.
 *
 * From the raw body to a verdict, each also parses the JSON: Stripe and Standard Webhooks do by themselves, GitHub's verifier
 * leaves it to its caller and n8n does it for us. Our verdict then holds the headers, the time stamp, both ids and the
 * depth of the body; Stripe and Standard Webhooks check the time stamp, GitHub's has none.
 */
const ROUNDS = 201;
const CALLS = 1_000;

const built = (/** @type {string} */ name) =>
	require(path.join(__dirname, '../dist/nodes/MediaGeneration/callback', name));
/** @type {typeof import('../nodes/MediaGeneration/callback/verify')} */
const { verifyCallback } = built('verify');
/** @type {typeof import('../nodes/MediaGeneration/callback/signature')} */
const { findMatchingSecret, sign } = built('signature');

/** An ES module; TypeScript does not find the types of its Node version from here. */
const GITHUB = /** @type {string} */ '@octokit/webhooks-methods';
/** @typedef {{ sign(key: string, body: string): Promise<string>, verify(key: string, body: string, signature: string): Promise<boolean> }} GitHub */

const KEY = 'whsec-0123456789abcdef0123456789abcdef';

/** @typedef {Record<string, () => unknown>} Ways */

/**
 * Microseconds that each way takes in each of the interleaved rounds.
 * @template {Ways} W
 * @param {W} ways
 * @returns {Promise<Record<keyof W, number[]>>}
 */
async function microseconds(ways) {
	const times = Object.entries(ways).map(([name, way]) => ({
		name,
		way,
		rounds: /** @type {number[]} */ [],
	}));
	for (let round = 0; round < ROUNDS; round++)
		for (const { way, rounds } of times) {
			const begun = process.hrtime.bigint();
			for (let call = 0; call < CALLS; call++) {
				const verdict = way();
				if (verdict instanceof Promise) await verdict;
			}
			rounds.push(Number(process.hrtime.bigint() - begun) / CALLS / 1_000);
		}
	return /** @type {any} */ Object.fromEntries(times.map(({ name, rounds }) => [name, rounds]));
}

/**
 * The ways to verify a callback with this body, and what they take.
 * @param {string} taskId
 * @param {object} content
 */
async function verifiers(taskId, content) {
	/** @type {GitHub} */
	const github = await import(GITHUB);
	const body = JSON.stringify(content);
	const now = Date.now();
	const seconds = String(Math.floor(now / 1_000));
	const signature = sign(taskId, seconds, KEY);
	const common = {
		host: 'n8n.example',
		'content-type': 'application/json',
		'content-length': String(body.length),
		'user-agent': 'media-task-service',
	};
	const headers = { ...common, 'x-webhook-timestamp': seconds, 'x-webhook-signature': signature };
	const keys = { current: KEY };
	const parsed = JSON.parse(body);
	/** @param {import('../nodes/MediaGeneration/callback/signature').SigningSecrets | undefined} keys */
	const verdict = (keys, content = parsed) =>
		accepted(
			verifyCallback(headers, content, { secrets: keys, toleranceSeconds: 300, now: Date.now() }),
		);

	const standard = new Webhook(KEY, { format: 'raw' });
	const standardHeaders = {
		...common,
		'webhook-id': taskId,
		'webhook-timestamp': seconds,
		'webhook-signature': standard.sign(taskId, new Date(Number(seconds) * 1_000), body),
	};
	const stripeHeader = webhooks.generateTestHeaderString({ payload: body, secret: KEY });
	const githubSignature = await github.sign(KEY, body);

	return {
		bytes: body.length,
		signatures: {
			ours: () => accepted(findMatchingSecret(signature, taskId, seconds, keys)),
			stripe: () => accepted(webhooks.signature?.verifyHeader(body, stripeHeader, KEY)),
			standard: () => standard.verify(body, standardHeaders, { jsonParse: false }),
			github: async () => accepted(await github.verify(KEY, body, githubSignature)),
		},
		verdicts: {
			ours: () => verdict(keys, JSON.parse(body)),
			stripe: () => webhooks.constructEvent(body, stripeHeader, KEY),
			standard: () => standard.verify(body, standardHeaders),
			github: async () => {
				accepted(await github.verify(KEY, body, githubSignature));
				return JSON.parse(body);
			},
		},
		parts: {
			hash: () => createHmac('sha256', KEY).update(`${taskId}.${seconds}`).digest('base64'),
			matched: () => accepted(findMatchingSecret(signature, taskId, seconds, keys)),
			verdict: () => verdict(keys),
			unsigned: () => verdict(undefined),
			rotating: () => verdict({ current: KEY, previous: 'the key before' }),
		},
	};
}

/**
 * @template T
 * @param {T} verdict
 */
function accepted(verdict) {
	if (!verdict || (typeof verdict === 'object' && 'accepted' in verdict && !verdict.accepted))
		throw new Error('A genuine callback was refused');
	return verdict;
}

/**
 * @template {string} K
 * @param {Record<K, number[]>} times
 */
const medians = (times) =>
	/** @type {Record<K, number>} */ Object.fromEntries(
		Object.entries(times).map(([name, rounds]) => [name, median(/** @type {number[]} */ rounds)]),
	);

/**
 * How much faster ours is than the fastest of the others, as the median of what each round says: a machine that is slower
 * for a moment is so for all of a round.
 * @param {string} name
 * @param {Record<'ours' | 'stripe' | 'standard' | 'github', number[]>} times
 * @returns {import('./run.cts').Row}
 */
function fastest(name, { ours, ...others }) {
	const { stripe, standard, github } = others;
	const perSecond = (/** @type {number[]} */ times) =>
		Math.round(1e6 / median(times)).toLocaleString('en');
	const ofFastest = (/** @type {number[]} */ other) =>
		median(ours.map((time, round) => (other[round] ?? NaN) / time));
	return {
		name: `${name}, of the fastest of the others`,
		value: Math.min(...Object.values(others).map(ofFastest)),
		goal: { atLeast: 1 },
		figures: `a second, medians of ${ROUNDS} rounds: ${perSecond(ours)}; @octokit/webhooks-methods ${perSecond(github)}, stripe ${perSecond(stripe)}, standardwebhooks ${perSecond(standard)}`,
	};
}

async function bench() {
	const taskId = randomBytes(16).toString('hex');
	const files = 'https://files.media.example/results';
	const order = { model: 'beta2/image-edit', input: { prompt: 'Make it rain. '.repeat(12) } };
	const contract = {
		taskId,
		code: 200,
		msg: 'success',
		data: { task_id: taskId, callbackType: 'task_completed' },
	};
	const record = {
		...contract,
		data: {
			...contract.data,
			taskId,
			model: order.model,
			state: 'success',
			param: JSON.stringify({ ...order, callBackUrl: 'https://n8n.example/webhook/media/webhook' }),
			resultJson: JSON.stringify({ resultUrls: [`${files}/${taskId}/result.png`] }),
			failCode: '',
			failMsg: '',
			costTime: 8_000,
			createTime: Date.now() - 8_000,
			completeTime: Date.now(),
			creditsConsumed: 12.5,
		},
	};
	const short = await verifiers(taskId, contract);
	const long = await verifiers(taskId, record);
	const parts = medians(await microseconds(long.parts));
	const ofHash = (/** @type {number} */ time) => time / parts.hash;
	const shown = (/** @type {number} */ time) => `${time.toFixed(2)} µs`;
	const figures = (/** @type {string} */ what, /** @type {number} */ time) =>
		`${what} ${shown(time)}, one HMAC ${shown(parts.hash)}`;
	return [
		fastest(
			`Verdicts on the contract's body of ${short.bytes} bytes`,
			await microseconds(short.verdicts),
		),
		fastest(`Verdicts on a whole record of ${long.bytes} bytes`, await microseconds(long.verdicts)),
		fastest(`Signatures alone, body of ${short.bytes} bytes`, await microseconds(short.signatures)),
		fastest(`Signatures alone, body of ${long.bytes} bytes`, await microseconds(long.signatures)),
		{
			name: 'All checks besides the signature, of one HMAC',
			value: ofHash(parts.unsigned),
			goal: { atMost: 1 },
			figures: figures('a verdict with signatures off takes', parts.unsigned),
		},
		{
			name: 'The whole verdict without its HMAC, of one HMAC',
			value: ofHash(parts.verdict - parts.hash),
			goal: { atMost: 1 },
			figures: figures('the verdict takes', parts.verdict),
		},
		{
			name: 'The comparison in constant time, of one HMAC',
			value: ofHash(parts.matched - parts.hash),
			goal: { atMost: 1 },
			figures: figures('HMAC and comparison take', parts.matched),
		},
		{
			name: 'A previous key in the credential, of one HMAC',
			value: ofHash(parts.rotating - parts.verdict),
			figures: figures(
				`a second HMAC, as both keys are always tried; the verdict takes ${shown(parts.verdict)} without one, and`,
				parts.rotating,
			),
		},
	];
}

module.exports = { title: 'Verifying a callback', bench };
