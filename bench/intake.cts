import { median, quantile } from 'simple-statistics';
import { interleave } from './measure.cts';
import { CALLBACKS, IN_FLIGHT, measureReceivers, measureRound } from './receivers.cts';

export const title = 'Intake: from a signed callback to a finished execution';

const ROUNDS = 7;

const MEASURED = {
	withoutDetails: 'without details',
	withoutMemory: 'without details and deduplication',
	withDetails: 'with details',
	nothingWithCredential: 'to a trigger that does nothing',
};

const BESIDE = {
	bare: "n8n's bare Webhook node takes in",
	nothingWithCredential: 'a trigger that does nothing takes in',
	withExpression: "n8n's Webhook node takes in with an expression in a parameter",
	byHand: 'Webhook, Crypto, If, HTTP Request and Respond to Webhook take in',
};

interface Comparison {
	measured: keyof typeof MEASURED;
	beside: keyof typeof BESIDE;
	atLeast?: number;
}

const COMPARISONS: Comparison[] = [
	{ measured: 'withoutDetails', beside: 'bare', atLeast: 0.95 },
	{ measured: 'withoutDetails', beside: 'nothingWithCredential' },
	{ measured: 'withoutMemory', beside: 'nothingWithCredential' },
	{ measured: 'nothingWithCredential', beside: 'bare' },
	{ measured: 'withoutDetails', beside: 'withExpression' },
	{ measured: 'withDetails', beside: 'byHand', atLeast: 1.3 },
	{ measured: 'nothingWithCredential', beside: 'byHand' },
];

type Round = Awaited<ReturnType<typeof measureRound>>;

const computeRate = (rounds: Round[]) => median(rounds.map(({ rate }) => rate));

function describe(rounds: Round[]) {
	const answers = rounds.flatMap((round) => round.answers);
	const within = (share: number) => `${quantile(answers, share).toFixed(0)} ms`;
	const processor = median(rounds.map((round) => round.processor));
	return `${computeRate(rounds).toFixed(1)}/s (answers: p50 ${within(0.5)}, p99 ${within(0.99)}; ${processor.toFixed(0)} ms of processor time each)`;
}

/**
 * Genuine callbacks per second that end in a finished execution, and how long their answers take, by what receives them, in
 * interleaved rounds of one n8n.
 *
 * As it comes, n8n sets up an isolate for expressions before it calls any trigger but its own Webhook node, and for that
 * one too when a parameter has an expression: so that, and a trigger that does nothing, are shown as well.
 */
export const bench = async () =>
	await measureReceivers(async (setup) => {
		const rounds = await interleave(
			setup.receivers,
			{ rounds: ROUNDS },
			async (receiver) => await measureRound(setup, receiver),
		);
		return COMPARISONS.map(({ measured, beside, atLeast }) => ({
			name: `Callbacks per second ${MEASURED[measured]}, of what ${BESIDE[beside]}`,
			value: computeRate(rounds[measured]) / computeRate(rounds[beside]),
			goal: atLeast ? { atLeast } : undefined,
			figures: `${describe(rounds[measured])}, beside ${describe(rounds[beside])}; medians of ${ROUNDS} rounds of ${CALLBACKS}, ${IN_FLIGHT} in flight`,
		}));
	});
