import type { INodeProperties } from 'n8n-workflow';
import { limitConcurrency } from '../../lib/mapConcurrent';
import { pause, settleBy, untilAborted } from '../../lib/timers';
import { readOption } from '../../models/field';
import type { Item } from '../input/item';
import { keepCreditsOption, maxCreditsOption, maxTasksOption } from '../input/options';
import { type Creation, giveBackTask, noteCost, reserveTask } from '../ledger/changes';
import { addCredits } from '../ledger/costs';
import { readTaskKey, type Shared } from '../ledger/ledger';
import { buildRunError } from '../output/errors';
import type { Run } from '../run';
import { subtractTimeAtEnd, MAX_TIME_UNSEEN, PAUSES_BEFORE_COST, planLooks } from '../timetable';

/**
 * Holds a limit in Options. Each call asks all guards anew, and they judge by the ledger, which has the
 * items, loops, tries and calls of the execution.
 */
interface Guard {
	field: INodeProperties;
	/** Asked before anything is created. @returns why the limit forbids these creations */
	check?: (run: Run, creations: Creation[], limit?: number) => MaybeError | Promise<MaybeError>;
	/** Asked right before a creation is sent; may count it. @returns why the limit forbids it */
	permit?: (run: Run, creation: Creation, limit?: number) => MaybeError | Promise<MaybeError>;
	/** Stops counting a creation that made no task. Called once the outcome is known. */
	giveBack?: (run: Run, creation: Creation) => void;
}

type MaybeError = Error | undefined;

/** Stop Below This Balance: holds for each account. */
const balance: Guard = {
	field: keepCreditsOption,
	async check(_, creations, keep) {
		if (keep === undefined) return undefined;
		const accounts = new Map<string, Item>(
			creations.map(({ item }) => [item.service.account, item]),
		);
		for (const { service, settings } of accounts.values()) {
			const credits = await service.request('creditsPath', settings).catch((error: Error) => error);
			if (credits instanceof Error)
				return buildRunError(
					`'Stop Below This Balance' is set in Options, but the account's credits couldn't be read: ${credits.message}`,
					"Check 'Credits Path' in the credential, or remove 'Stop Below This Balance' from Options.",
				);
			if (credits <= keep)
				return buildRunError(
					`The account has ${credits} credits, but 'Stop Below This Balance' in Options is ${keep}`,
					"Top up the account, or lower 'Stop Below This Balance'.",
				);
		}
		return undefined;
	},
};

/** Maximum Tasks per Run: counts the tasks of all items, loops, tries and calls in an execution. */
const maxTasks: Guard = {
	field: maxTasksOption,
	check: (run, creations, limit) => findTooMany(run, creations.length, limit),
	permit(run, _, limit) {
		const tooMany = findTooMany(run, 1, limit);
		if (!tooMany) reserveTask(run.ledger);
		return tooMany;
	},
	giveBack({ ledger }, { isSent }) {
		if (!isSent) giveBackTask(ledger);
	},
};

function findTooMany(run: Run, more: number, limit = Infinity): MaybeError {
	if (run.ledger.shared.taskCount + more <= limit) return undefined;
	return buildLimitError(run, maxTasksOption, limit, `${more} more requested`);
}

/** Builds the error of a limit over an execution. @param why beside what was created */
function buildLimitError(
	{ call, ledger }: Run,
	{ displayName }: INodeProperties,
	limit: number,
	why: string,
	remedy = 'Give fewer items, or raise the limit.',
): Error {
	const since = call.nodeContext ? 'this execution' : 'the last hour';
	return buildRunError(
		`'${displayName}' in Options is ${limit}: ${ledger.shared.taskCount} already created in ${since}, ${why}`,
		call.isTool ? 'The limit was set by the owner of this workflow: do not try again.' : remedy,
	);
}

/**
 * Maximum Credits per Run: counts the same tasks as Maximum Tasks per Run. What a task will cost isn't
 * known, so the highest cost so far stands for it, and for each creation of unknown outcome.
 */
const maxCredits: Guard = {
	field: maxCreditsOption,
	async permit(run, { item }, limit) {
		if (limit === undefined) return undefined;
		await learnCosts(run, item);
		const { spent, highest, canEstimate } = estimateCosts(run);
		if (canEstimate && addCredits([spent, highest]) <= limit) return undefined;
		return buildLimitError(
			run,
			maxCreditsOption,
			limit,
			`for ${spent} credits, the dearest for ${highest}${canEstimate ? '' : "; it isn't known what one costs"}`,
			canEstimate ? undefined : OTHER_LIMITS,
		);
	},
};

/** Estimates what all creations have cost, and takes the highest cost of a task as that of the next one. */
function estimateCosts(run: Run) {
	const { taskCount, costs } = run.ledger.shared;
	const figuresOfTasks = Object.values(costs);
	const highest = Math.max(0, ...figuresOfTasks.flat());
	const latestCosts = figuresOfTasks.map((figures) => figures.at(-1) ?? 0);
	// `taskCount` includes creations that are reserved, or of unknown outcome. They have no entry in `costs`.
	const withoutEntry = Math.max(0, taskCount - figuresOfTasks.length);
	const spent = addCredits([...latestCosts, withoutEntry * highest]);
	// Before the first task, or if all were free, the next one counts as free.
	const canEstimate = !findUnpriced(run) && (highest > 0 || !withoutEntry);
	return { spent, highest, canEstimate };
}

const OTHER_LIMITS =
	"If the service says so only at the end, use 'Maximum Tasks per Run' or 'Stop Below This Balance'.";

/** Finds a task of which the service hasn't said what it costs. @returns its key */
const findUnpriced = ({ ledger }: Run): string | undefined =>
	Object.entries(ledger.shared.costs).find(([, figures]) => !figures.length)?.[0];

/** Looks until the cost of each task is known. The record of a task may be invisible at first. */
async function learnCosts(run: Run, item: Item): Promise<void> {
	const by = Math.min(Date.now() + MAX_TIME_UNSEEN, subtractTimeAtEnd(run.call.doneBy));
	for (const at of planLooks(PAUSES_BEFORE_COST, by)) {
		const key = findUnpriced(run);
		if (!key || run.isCostUnknown) return;
		await pause(at - Date.now(), run.call.signal);
		const look = untilAborted(lookAtCost(run, key, item), run.call.signal);
		await settleBy(by, look).catch(() => undefined);
	}
	run.isCostUnknown = true;
}

/** Asks the service for a task of this execution, by an item with the same account. */
async function lookAtCost({ ledger, getService }: Run, key: string, { settings }: Item) {
	const { account, taskId } = readTaskKey(key);
	for (const index of ledger.entries.keys()) {
		const service = await getService(index).catch(() => undefined);
		if (service?.account === account)
			return noteCost(ledger, key, await service.getTask(taskId, settings));
	}
}

/** `maxTasks` counts what it permits, so it comes last: no guard behind it can still forbid the creation. */
const GUARDS: Guard[] = [balance, maxCredits, maxTasks];

/** With a limit in credits, the calls of an execution create one after the other. */
const locks = new WeakMap<Shared, ReturnType<typeof limitConcurrency>>();

const readLimit = ({ item }: Creation, field: INodeProperties) =>
	readOption(item.option, field) as number | undefined;

const hasTask = ({ ledger }: Run, { item }: Creation) =>
	!!ledger.entries[item.index]?.attempts.length;

/**
 * Asks all guards before anything is created. If one forbids the creations, its reason is the error of their
 * items. Where an item has a failed task, the failure stays the error of the item.
 * @returns the creations that may be sent: all or none
 * @throws {UserError} with On Error "stop"
 */
export async function checkLimits(run: Run, creations: Creation[]): Promise<Creation[]> {
	const [first] = creations;
	if (!first) return [];
	const { call, errors } = run;
	for (const { field, check } of GUARDS) {
		const error = await check?.(run, creations, readLimit(first, field));
		if (!error) continue;
		const withoutTask = creations.filter((creation) => !hasTask(run, creation));
		if (withoutTask.length && call.stopsOnError) throw error;
		for (const { item } of withoutTask) errors.set(item.index, error);
		return [];
	}
	return creations;
}

/**
 * Sends a creation if all guards permit it. If one forbids it in place of a failed task, the failure stays
 * the error of the item.
 * @returns why no task was created
 */
export async function sendGuarded(
	run: Run,
	creation: Creation,
	send: () => Promise<MaybeError>,
): Promise<MaybeError> {
	const work = async () => {
		for (const { field, permit } of GUARDS) {
			const error = await permit?.(run, creation, readLimit(creation, field));
			if (error) return hasTask(run, creation) ? undefined : error;
		}
		const error = await send();
		for (const { giveBack } of GUARDS) giveBack?.(run, creation);
		return error;
	};
	if (readLimit(creation, maxCreditsOption) === undefined) return await work();
	const { shared } = run.ledger;
	const lock = locks.get(shared) ?? limitConcurrency(1);
	locks.set(shared, lock);
	return await lock(work);
}
