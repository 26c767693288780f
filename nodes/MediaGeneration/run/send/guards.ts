import type { INodeProperties } from 'n8n-workflow';
import { readOption } from '../../models/field';
import type { Item } from '../input/item';
import { keepCreditsOption, maxTasksOption } from '../input/options';
import { type Creation, giveBackTask, reserveTask } from '../ledger/changes';
import { buildRunError } from '../output/errors';
import type { Run } from '../run';

/**
 * Holds a limit in Options. Each try asks all guards anew, and they judge by the ledger, which has the
 * items, loops, tries and calls of the execution.
 */
interface Guard {
	field: INodeProperties;
	/** Asked before anything is created. @returns why the limit forbids these creations */
	check: (run: Run, creations: Creation[], limit?: number) => MaybeError | Promise<MaybeError>;
	/** Reserves a creation, right before it is sent. @returns why the limit forbids it */
	reserve?: (run: Run, creation: Creation, limit?: number) => MaybeError;
	/** Settles what the creation cost, once its outcome is known. */
	settle?: (run: Run, creation: Creation) => void;
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
	reserve(run, _, limit) {
		const tooMany = findTooMany(run, 1, limit);
		if (!tooMany) reserveTask(run.ledger);
		return tooMany;
	},
	settle({ ledger }, { isSent }) {
		if (!isSent) giveBackTask(ledger);
	},
};

function findTooMany({ call, ledger }: Run, more: number, limit = Infinity): MaybeError {
	const { count } = ledger.shared;
	if (count + more <= limit) return undefined;
	return buildRunError(
		`'Maximum Tasks per Run' in Options is ${limit}: ${count} already created in ${call.nodeContext ? 'this execution' : 'the last hour'}, ${more} more requested`,
		call.isTool
			? 'The limit was set by the owner of this workflow: do not try again.'
			: 'Give fewer items, or raise the limit.',
	);
}

/** A guard that reserves comes last, so that none behind it can still forbid the creation. */
const GUARDS = [balance, maxTasks];

const readLimit = ({ item }: Creation, field: INodeProperties) =>
	readOption(item.option, field) as number | undefined;

/**
 * Asks all guards before anything is created. If one forbids the creations, that is the error of their
 * items; a failed task that isn't created again stays the error of its own.
 * @returns the creations that may be sent: all or none
 * @throws {UserError} with On Error "stop"
 */
export async function checkLimits(run: Run, creations: Creation[]): Promise<Creation[]> {
	const [first] = creations;
	if (!first) return [];
	const { call, ledger, errors } = run;
	for (const { field, check } of GUARDS) {
		const error = await check(run, creations, readLimit(first, field));
		if (!error) continue;
		const fresh = creations.filter(({ item }) => !ledger.entries[item.index]?.attempts.length);
		if (fresh.length && call.stopsOnError) throw error;
		for (const { item } of fresh) errors.set(item.index, error);
		return [];
	}
	return creations;
}

/** Sends a creation if all guards let it. @returns why no task was created */
export async function sendGuarded(
	run: Run,
	creation: Creation,
	send: () => Promise<MaybeError>,
): Promise<MaybeError> {
	for (const { field, reserve } of GUARDS) {
		const error = reserve?.(run, creation, readLimit(creation, field));
		if (error) return error;
	}
	const error = await send();
	for (const { settle } of GUARDS) settle?.(run, creation);
	return error;
}
