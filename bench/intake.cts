import { startPackedN8n } from '../dev/fixtures/pair.cts';
import { compare, interleave, measureSettings, openService, type Bench } from './measure.cts';
import { activate, measureRound, RECEIVERS, type ReceiverName } from './receivers.cts';

const ROUNDS = 7;

const BARE = "n8n's bare Webhook node takes in";
const BY_HAND = 'Webhook, Crypto, If, HTTP Request and Respond to Webhook take in';
const NOTHING = 'a trigger that does nothing';

const COMPARISONS: Array<[measured: ReceiverName, beside: ReceiverName, name: string]> = [
	['withoutDetails', 'bare', `without details, of what ${BARE}`],
	['withoutDetails', 'nothing', `without details, of what ${NOTHING} takes in`],
	['withoutMemory', 'nothing', `without details and deduplication, of what ${NOTHING} takes in`],
	['nothing', 'bare', `to ${NOTHING}, of what ${BARE}`],
	['withDetails', 'byHand', `with details, of what ${BY_HAND}`],
];

/** Genuine callbacks per second that end in a finished execution. It takes about five minutes. */
export const bench: Bench = async (log) =>
	await measureSettings(async (env) => {
		await using service = await openService();
		// In this folder n8n finds the trigger that does nothing.
		const extensions = { N8N_CUSTOM_EXTENSIONS: __dirname };
		await using n8n = await startPackedN8n({ env: { ...extensions, ...env } });
		const receivers = await activate(n8n, service, Object.keys(RECEIVERS) as ReceiverName[]);
		const rates = await interleave(
			receivers,
			{ rounds: ROUNDS, log },
			async (receiver) => await measureRound(n8n, service, receiver),
		);
		return COMPARISONS.map(([measured, beside, name]) =>
			compare(`Callbacks per second ${name}`, rates[measured], rates[beside], '/s'),
		);
	});
