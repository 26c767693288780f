import type { UserError } from 'n8n-workflow';
import {
	buildUnknownError,
	CHECK_NAME,
	factsOf,
	isOfKind,
	type UnknownOutcome,
} from '../../api/failure';
import { CREATION_RATE } from '../../api/service';
import type { Call } from '../../host/call';
import { mapConcurrent } from '../../lib/mapConcurrent';
import { type RateLimiter, RateLimiters } from '../../lib/rateLimiter';
import { joinSignals, settleBy } from '../../lib/timers';
import { uploadFiles } from '../input/inputFile';
import { readPace } from '../input/options';
import { type Creation, noteTask, noteUnknown, resetWait } from '../ledger/changes';
import { type Entry, isToSend } from '../ledger/ledger';
import { buildRunError } from '../output/errors';
import { hasError, type Run } from '../run';
import { type CreationTimes, planCreations } from '../timetable';
import { sendGuarded } from './guards';
import { AccountStop, CreationQueue } from './stops';

/**
 * Creates the tasks, at the rate in Options. A request is sent once, unless the service rejects it for
 * its rate, or for tasks at once. The outcome is in the ledger, or is an error of the run.
 */
export async function sendAll(run: Run, creations: Creation[]): Promise<void> {
	const [first] = creations;
	if (!first) return;
	const { call, ledger } = run;
	const runEnd = new AbortController();
	const { perTenSeconds, atOnce } = readPace(first.item.option);
	const signal = joinSignals(runEnd.signal, call.signal);
	const create = openSenders(run, { perTenSeconds, signal });
	const send = async (creation: Creation): Promise<number> => {
		const { index } = creation.item;
		// Older agents make several calls at once with the same run index, so the calls share an entry.
		const isStillToSend = isToSend(ledger.entries[index] as Entry, call.mostTries);
		if (call.signal?.aborted || !isStillToSend) return index;
		const error = await sendGuarded(run, creation, async () => await create(creation));
		// An item that only waited for its turn when another item ended the run has no error of its own.
		if (error && error !== runEnd.signal.reason) run.errors.set(index, error);
		return index;
	};
	const afterEach = (index: number) => {
		const isEnd = call.stopsOnError && hasError(run, index);
		if (isEnd) runEnd.abort(new Error('Another item ended the run'));
		return isEnd;
	};
	await mapConcurrent(creations, send, { concurrency: atOnce, afterEach });
	if (creations.some(({ isSent }) => isSent)) resetWait(run);
}

/** How a run sends the creations of an account. */
interface Pace {
	/** The most creations within ten seconds; 0: any number. */
	perTenSeconds: number;
	/** When aborted, creations that wait are given up. */
	signal: AbortSignal;
}

/** Makes a function that sends a creation by the sender of its account. */
function openSenders(run: Run, pace: Pace) {
	const senders = new Map<string, CreationSender>();
	return async (creation: Creation): Promise<Error | undefined> => {
		const { account } = creation.item.service;
		const sender = senders.get(account) ?? new CreationSender(run, account, pace);
		senders.set(account, sender);
		return await sender.create(creation);
	};
}

/**
 * Sends the creations of one account in a run, each when its turn comes. Nothing more is sent when
 * further creations would fail too, or might be paid for without a result.
 */
class CreationSender {
	private readonly sendInTurn: ReturnType<RateLimiter['join']>;
	private readonly queue: CreationQueue;
	private readonly stop: AccountStop;
	private readonly cutOff: CutOff;
	/** The items whose requests are under way. */
	private readonly underway = new Set<number>();

	constructor(
		private readonly run: Run,
		account: string,
		{ perTenSeconds, signal }: Pace,
	) {
		this.cutOff = findCutOff(run.call);
		this.sendInTurn = creationRates.of(account).join(perTenSeconds || Infinity, signal);
		this.queue = new CreationQueue(run, signal);
		this.stop = new AccountStop(run.ledger, account);
	}

	/**
	 * Uploads the files of an item, and creates its task. At `cutOff.sentBy` it stops sending. A creation
	 * that is under way then is left to finish, and its ID is logged.
	 * @returns why no task was created; undefined if one was
	 */
	async create(creation: Creation): Promise<Error | undefined> {
		const { sentBy, knownBy, notSent, unknown } = this.cutOff;
		const creating = this.createAndNote(creation);
		const outcome = await settleBy(sentBy, creating);
		if (outcome) return outcome.error;
		// Nothing more may be sent even if the clock is set back before `sentBy`.
		this.stop.reason ??= notSent;
		if (!this.underway.has(creation.item.index)) return notSent;
		// Between the two moments, the outcome may still come.
		const lateOutcome = knownBy > sentBy ? await settleBy(knownBy, creating) : undefined;
		if (lateOutcome) return lateOutcome.error;
		noteUnknown(this.run, creation, unknown);
		const error = buildUnknownError(unknown);
		this.stop.noteOutcome(error);
		return error;
	}

	/** Creates a task, and notes the outcome before anything else happens. */
	private async createAndNote(creation: Creation): Promise<{ error?: Error }> {
		try {
			noteTask(this.run, creation, await this.uploadAndSend(creation));
			return {};
		} catch (error) {
			const { unknown } = factsOf(error);
			if (unknown) noteUnknown(this.run, creation, unknown);
			if (isOfKind(error, 'tasksAtOnce')) this.stop.noteNoTime(error);
			return { error: adviseModelName(creation, error as Error) };
		}
	}

	private async uploadAndSend({ item, request }: Creation): Promise<string> {
		this.throwIfStopped();
		const { index, service, settings } = item;
		const { model, callBackUrl } = request;
		const body = { model, callBackUrl, input: await uploadFiles(item, request.input) };
		const send = async () => {
			this.throwIfStopped();
			this.underway.add(index);
			const [answer] = await Promise.allSettled([service.createTask(body, settings)]);
			this.underway.delete(index);
			if (answer.status === 'rejected') {
				this.stop.noteOutcome(answer.reason as Error);
				throw answer.reason;
			}
			this.stop.noteOutcome();
			return answer.value;
		};
		return await this.queue.send(async () => await this.sendInTurn(send));
	}

	private throwIfStopped(): void {
		if (Date.now() >= this.cutOff.sentBy) this.stop.reason ??= this.cutOff.notSent;
		if (this.stop.reason) throw this.stop.reason;
	}
}

/** Adds to a rejection that the service describes no such model: its name may be misspelled. */
function adviseModelName({ request }: Creation, error: Error): Error {
	if (!request.isUndescribed || !isOfKind(error, 'input')) return error;
	const remedy = `The service describes no model "${request.model}". ${CHECK_NAME}. ${error.description}`;
	return error.withRemedy(remedy);
}

/** The rates of all runs of this process, by account. */
const creationRates = new RateLimiters('creationRates', {
	period: CREATION_RATE.period,
	patience: 60_000,
	// `CreationQueue` handles `tasksAtOnce`.
	isTooFast: (error) => isOfKind(error, 'rate'),
});

/** When a call's creations end, so that its output comes in time, and what is said then. */
interface CutOff extends CreationTimes {
	/** The error of items that were not sent. */
	notSent: UserError;
	/** The outcome of a creation that is still under way. */
	unknown: UnknownOutcome;
}

/** Finds when a call's creations end: before an MCP client gives up, or before n8n's timeout. */
function findCutOff({ answerBy, timeout }: Call): CutOff {
	const times = planCreations(timeout);
	const tookSoLong = 'The service took so long to create the task that';
	const inLog = "Its ID will be in n8n's log.";
	if (answerBy <= times.sentBy)
		return {
			sentBy: answerBy,
			knownBy: answerBy,
			notSent: buildRunError(
				'There was no time left to create the task, because MCP clients give up after a minute',
				'The client may call again.',
			),
			unknown: {
				message: `${tookSoLong} the MCP client would have given up`,
				remedy: `Do not create it again. ${inLog}`,
			},
		};
	return {
		...times,
		notSent: buildRunError(
			"There was no time left to create the task before n8n's timeout",
			"Raise 'Timeout Workflow' in the workflow's settings, or give the node fewer items.",
		),
		unknown: {
			message: `${tookSoLong} n8n would have ended the execution`,
			remedy: inLog,
		},
	};
}
