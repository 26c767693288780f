const { richService } = require('./pair.cts');
const { CALLBACKS, IN_FLIGHT, interleaved, round, withReceivers } = require('./receivers.cts');
const { SETTINGS } = require('./settings.cts');
const { median, percentile } = require('./statistics.cts');

/**
 * Genuine callbacks per second that end in a finished execution, and how long their answers take, by what receives them, in
 * interleaved rounds of one n8n.
 *
 * As it comes, n8n sets up an isolate for expressions before it calls any trigger but its own Webhook node, and for that
 * one too when a parameter has an expression: so that, and a trigger that does nothing, are shown as well.
 */
const ROUNDS = 7;

/** @typedef {import('./receivers.cts').Name} Name */
/** @typedef {import('./receivers.cts').Round} Round */

/** @type {Array<{ name: string, receiver: Name, beside: Name, goal?: import('./run.cts').Goal }>} */
const COMPARISONS = [
	{
		name: "without details, of what n8n's bare Webhook node takes in",
		receiver: 'withoutDetails',
		beside: 'bare',
		goal: { atLeast: 0.95 },
	},
	{
		name: 'without details, of what a trigger that does nothing takes in',
		receiver: 'withoutDetails',
		beside: 'nothingWithCredential',
	},
	{
		name: "to a trigger that does nothing, of what n8n's bare Webhook node takes in",
		receiver: 'nothingWithCredential',
		beside: 'bare',
	},
	{
		name: "without details, of what n8n's Webhook node takes in with an expression in a parameter",
		receiver: 'withoutDetails',
		beside: 'withExpression',
	},
	{
		name: 'with details, of what Webhook, Crypto, If, HTTP Request and Respond to Webhook take in',
		receiver: 'withDetails',
		beside: 'byHand',
		goal: { atLeast: 1.3 },
	},
	{
		name: 'to a trigger that does nothing, of what Webhook, Crypto, If, HTTP Request and Respond to Webhook take in',
		receiver: 'nothingWithCredential',
		beside: 'byHand',
	},
];

/**
 * Measures all receivers in one n8n, and gives the rounds of each by its name.
 * @param {import('../dev/service/index.cts').Service} service
 * @param {Record<string, string>} env
 */
const measure = async (service, env) =>
	await withReceivers(service, env, async (n8n, receivers) =>
		interleaved(receivers, ROUNDS, async (receiver) => await round(service, n8n, receiver)),
	);

const rateOf = (/** @type {Round[]} */ rounds) => median(rounds.map(({ rate }) => rate));

/** @param {Round[]} rounds */
function told(rounds) {
	const answers = rounds.flatMap((round) => round.answers);
	const within = (/** @type {number} */ share) => `${percentile(answers, share).toFixed(0)} ms`;
	const processor = median(rounds.map((round) => round.processor));
	return `${rateOf(rounds).toFixed(1)}/s (answers: p50 ${within(0.5)}, p99 ${within(0.99)}; ${processor.toFixed(0)} ms of processor time each)`;
}

async function bench() {
	const service = await richService({ taskSeconds: 0 });
	/** @type {import('./run.cts').Row[]} */
	const rows = [];
	try {
		for (const { setting, env } of SETTINGS) {
			const measured = await measure(service, env);
			for (const { name, receiver, beside, goal } of COMPARISONS)
				rows.push({
					name: `Callbacks per second ${name}; ${setting}`,
					value: rateOf(measured(receiver)) / rateOf(measured(beside)),
					goal,
					figures: `${told(measured(receiver))}, beside ${told(measured(beside))}; medians of ${ROUNDS} rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`,
				});
		}
		return rows;
	} finally {
		await service.close();
	}
}

module.exports = { title: 'Intake: from a signed callback to a finished execution', bench };
