import { readOption } from '../../models/field';
import type { Item } from '../input/item';
import { keepCreditsOption, maxTasksOption } from '../input/options';
import type { Creation } from '../ledger/note';
import { buildRunError } from '../output/errors';
import type { Run } from '../run';

/**
 * Takes the tasks from the budget. If Options forbid them, that is the error of their items; a failed
 * task that isn't created again stays the error of its own.
 * @returns the tasks that may be created: all or none
 * @throws {UserError} with On Error "stop"
 */
export async function checkBudget(run: Run, creations: Creation[]): Promise<Creation[]> {
	const refusal = await takeBudget(run, creations);
	if (!refusal) return creations;
	const fresh = creations.filter(({ attempts }) => !attempts);
	if (fresh.length && run.call.stopsOnError) throw refusal;
	for (const { item } of fresh) run.errors.set(item.index, refusal);
	return [];
}

/**
 * Checks the credits of these items' accounts, and takes the items from what the node may create in
 * one execution: in one step, because calls of an agent may run side by side.
 * @returns why Options forbid it; then nothing is taken
 */
async function takeBudget(
	{ call, ledger }: Run,
	creations: Creation[],
): Promise<Error | undefined> {
	const [first] = creations;
	if (!first) return undefined;
	const { option } = first.item;
	const keep = readOption(option, keepCreditsOption) as number | undefined;
	const tooFew = keep === undefined ? undefined : await checkCredits(creations, keep);
	if (tooFew) return tooFew;
	const { shared } = ledger;
	const limit = (readOption(option, maxTasksOption) ?? Infinity) as number;
	if (shared.count + creations.length > limit)
		return buildRunError(
			`'Maximum Tasks per Run' in Options is ${limit}: ${shared.count} already created in ${call.nodeContext ? 'this execution' : 'the last hour'}, ${creations.length} more requested`,
			call.isTool
				? 'The limit was set by the owner of this workflow: do not try again.'
				: 'Give fewer items, or raise the limit.',
		);
	shared.count += creations.length;
	return undefined;
}

/** @returns why an account has too few, or can't be asked */
async function checkCredits(creations: Creation[], keep: number): Promise<Error | undefined> {
	const accounts = new Map<string, Item>(creations.map(({ item }) => [item.service.account, item]));
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
}
