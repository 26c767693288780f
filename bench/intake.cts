import { median, quantile } from 'simple-statistics';
import { startPackedN8n } from '../dev/fixtures/pair.cts';
import type { Log } from '../dev/log.cts';
import { openService } from './fixtures.cts';
import { interleave, measureSettings } from './measure.cts';
import { activate, measureRound, RECEIVERS, ROUND, type ReceiverName } from './receivers.cts';

const ROUNDS = 7;

const WITHOUT = 'without details, of what';
const BARE = "n8n's bare Webhook node takes in";
const BY_HAND = 'Webhook, Crypto, If, HTTP Request and Respond to Webhook take in';
const NOTHING = 'a trigger that does nothing';

const COMPARISONS: Array<[ReceiverName, ReceiverName, name: string, atLeast?: number]> = [
	['withoutDetails', 'bare', `${WITHOUT} ${BARE}`, 0.95],
	['withoutDetails', 'nothing', `${WITHOUT} ${NOTHING} takes in`],
	['withoutMemory', 'nothing', `without details and deduplication, of what ${NOTHING} takes in`],
	['nothing', 'bare', `to ${NOTHING}, of what ${BARE}`],
	['withDetails', 'byHand', `with details, of what ${BY_HAND}`, 1.3],
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
 * Genuine callbacks per second that end in a finished execution, and how long their answers take. It takes
 * about five minutes: 2 settings, 8 rounds, 6 receivers, 40 callbacks.
 */
export const bench = async (log: Log) =>
	await measureSettings(async (env) => {
		await using service = await openService({ taskSeconds: 0 });
		// In this folder n8n finds the trigger that does nothing.
		const extensions = { N8N_CUSTOM_EXTENSIONS: __dirname };
		await using n8n = await startPackedN8n({ env: { ...extensions, ...env } });
		const receivers = await activate(n8n, service, Object.keys(RECEIVERS) as ReceiverName[]);
		const rounds = await interleave(receivers, { rounds: ROUNDS, log }, (receiver) =>
			measureRound({ service, n8n }, receiver),
		);
		return COMPARISONS.map(([measured, beside, name, atLeast]) => ({
			name: `Callbacks per second ${name}`,
			value: computeRate(rounds[measured]) / computeRate(rounds[beside]),
			goal: atLeast ? { atLeast } : undefined,
			figures: `${describe(rounds[measured])}, beside ${describe(rounds[beside])}; medians of ${ROUNDS} ${ROUND}`,
		}));
	});
