import { UserError, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { identifyAccount } from '../../api/endpoints';
import { getNodeContext } from '../../host/nodeContext';
import { isTool } from '../../host/starter';
import { readOption, type Item, type Prepared } from '../operation';
import { openRecord } from '../record';

/** In Options: how many tasks the node may create. */
export const maxTasksOption: INodeProperties = {
	displayName: 'Maximum Tasks per Run',
	name: 'maxTasksPerRun',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 100_000, numberPrecision: 0 },
	default: 10,
	description:
		'How many tasks this node may create in one execution of the workflow, over all loops and calls of an AI agent. If there are more items, nothing is created.',
};

/** In Options: what the account must have. */
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
 * Takes `count` tasks from what the node may create in one execution, in one step, because calls of an
 * agent may run side by side. n8n's Agents have no execution, so there the calls of an hour count.
 * @throws {UserError} when that is more than Maximum Tasks per Run allows
 */
export function takeBudget(
	count: number,
	option: Item['option'],
	context: IExecuteFunctions,
): void {
	const { shared } = openRecord(context);
	const limit = readOption(option, maxTasksOption) as number | undefined;
	if (limit !== undefined && shared.count + count > limit) {
		const [scope, owned] = getNodeContext(context)
			? ['this execution', 'workflow']
			: ['the last hour', 'agent'];
		throw new UserError(
			`'Maximum Tasks per Run' is ${limit} in Options, ${shared.count} were created before in ${scope}, and this run is for ${count} more`,
			{
				description: isTool(context)
					? `Nothing was created. The limit was set by the owner of this ${owned}: do not try again.`
					: 'Nothing was created. Give fewer items, or raise the limit.',
			},
		);
	}
	shared.count += count;
}

/** Returns to the budget what was certainly not created. */
export function giveBack(count: number, context: IExecuteFunctions): void {
	openRecord(context).shared.count -= count;
}

/**
 * Reads each account's credits once, if the user set a limit for them.
 * @throws {UserError} when an account has too few, or its credits can't be read
 */
export async function checkCredits(prepared: Array<Prepared<unknown>>): Promise<void> {
	const [first] = prepared;
	if (!first) return;
	const { option, settings } = first.item;
	const keep = readOption(option, keepCreditsOption) as number | undefined;
	if (keep === undefined) return;
	const accounts = new Map<string, TaskService>(
		prepared.map(({ item: { service } }) => [identifyAccount(service.credentials), service]),
	);
	for (const service of accounts.values()) {
		const credits = await service.getCredits(settings).catch((error: Error) => {
			throw new UserError(
				`'Stop Below This Balance' is set in Options, but the account's credits couldn't be read: ${error.message}`,
				{
					description:
						"Nothing was created. Check 'Credits Path' in the credential, or remove 'Stop Below This Balance' from Options.",
				},
			);
		});
		if (credits <= keep)
			throw new UserError(
				`The account has ${credits} credits, and 'Stop Below This Balance' is ${keep} in Options`,
				{
					description:
						"Nothing was created. Top up the account, or lower 'Stop Below This Balance'.",
				},
			);
	}
}
