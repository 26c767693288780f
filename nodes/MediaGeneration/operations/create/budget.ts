import type { IExecuteFunctions, INodeProperties, UserError } from 'n8n-workflow';
import { identifyAccount } from '../../api/endpoints';
import { getNodeContext, isTool } from '../../host/execution';
import { buildFieldError } from '../../models/field';
import { readOption, type Item, type Prepared } from '../operation';
import { openRecord } from '../record';

export const maxTasksOption: INodeProperties = {
	displayName: 'Maximum Tasks per Run',
	name: 'maxTasksPerRun',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 100_000, numberPrecision: 0 },
	default: 10,
	description:
		'How many tasks this node may create in one execution of the workflow, over all loops and calls of an AI agent. If there are more items, nothing is created.',
};

export const keepCreditsOption: INodeProperties = {
	displayName: 'Stop Below This Balance (Credits)',
	name: 'keepCredits',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000_000 },
	default: 0,
	description:
		'Creates nothing unless the account has more credits than this. What a task will cost is not known before.',
};

/**
 * Takes these items from what the node may create in one execution, at once, because calls of an agent
 * may run side by side. Then checks the credits of their accounts.
 * @throws {UserError} when Options forbid the run; then nothing is taken
 */
export async function takeBudget(
	unsent: Array<Prepared<unknown>>,
	context: IExecuteFunctions,
): Promise<void> {
	const [first] = unsent;
	if (!first) return;
	const { option } = first.item;
	const { shared } = openRecord(context);
	const limit = (readOption(option, maxTasksOption) ?? Infinity) as number;
	if (shared.count + unsent.length > limit)
		throw buildBudgetError(limit, shared.count, unsent.length, context);
	shared.count += unsent.length;
	const keep = readOption(option, keepCreditsOption) as number | undefined;
	const shortage = keep !== undefined && (await findShortage(unsent, keep));
	if (!shortage) return;
	giveBack(unsent.length, context);
	throw shortage;
}

function buildBudgetError(
	limit: number,
	before: number,
	more: number,
	context: IExecuteFunctions,
): UserError {
	const scope = getNodeContext(context) ? 'this execution' : 'the last hour';
	return buildFieldError(
		`'Maximum Tasks per Run' is ${limit} in Options, ${before} were created before in ${scope}, and this run is for ${more} more`,
		isTool(context)
			? 'Nothing was created. The limit was set by the owner of this workflow: do not try again.'
			: 'Nothing was created. Give fewer items, or raise the limit.',
	);
}

/** Returns to the budget what was certainly not created. */
export function giveBack(count: number, context: IExecuteFunctions): void {
	openRecord(context).shared.count -= count;
}

/** The reason to create nothing; undefined if the accounts have more credits than these. */
async function findShortage(
	prepared: Array<Prepared<unknown>>,
	keep: number,
): Promise<UserError | undefined> {
	const accounts = new Map<string, Item>(
		prepared.map(({ item }) => [identifyAccount(item.service.credentials), item]),
	);
	for (const { service, settings } of accounts.values()) {
		const credits = await service.getCredits(settings).catch((error: Error) => error);
		if (credits instanceof Error)
			return buildFieldError(
				`'Stop Below This Balance' is set in Options, but the account's credits couldn't be read: ${credits.message}`,
				"Nothing was created. Check 'Credits Path' in the credential, or remove 'Stop Below This Balance' from Options.",
			);
		if (credits <= keep)
			return buildFieldError(
				`The account has ${credits} credits, and 'Stop Below This Balance' is ${keep} in Options`,
				"Nothing was created. Top up the account, or lower 'Stop Below This Balance'.",
			);
	}
	return undefined;
}
