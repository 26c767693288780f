import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { getNodeContext, isTool } from '../host/execution';
import { readOption } from '../models/field';
import { RefusedRunError } from './errors';
import type { Item } from '../operations/operation';
import type { RunRecord } from '../operations/record/runRecord';
import type { RequestWork } from '../operations/work';

export const maxTasksOption: INodeProperties = {
	displayName: 'Maximum Tasks per Run',
	name: 'maxTasksPerRun',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 100_000, numberPrecision: 0 },
	default: 10,
	description:
		'How many tasks this node may create in one execution of the workflow, counting all loops and calls of an AI agent. If the items would exceed it, nothing is created.',
};

export const keepCreditsOption: INodeProperties = {
	displayName: 'Stop Below This Balance (Credits)',
	name: 'keepCredits',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 1_000_000_000 },
	default: 0,
	description:
		'Creates nothing unless the account has more credits than this. The cost of a task is not known in advance.',
};

/**
 * Checks the credits of these items' accounts, and takes the items from what the node may create in
 * one execution: in one step, because calls of an agent may run side by side.
 * @throws {UserError} when Options forbid the run; then nothing is taken
 */
export async function takeBudget(
	context: IExecuteFunctions,
	{ shared }: RunRecord,
	requests: RequestWork[],
): Promise<undefined> {
	const [first] = requests;
	if (!first) return undefined;
	const { option } = first.item;
	const keep = readOption(option, keepCreditsOption) as number | undefined;
	if (keep !== undefined) await checkCredits(requests, keep);
	const limit = (readOption(option, maxTasksOption) ?? Infinity) as number;
	if (shared.count + requests.length > limit)
		throw new RefusedRunError(
			`'Maximum Tasks per Run' in Options is ${limit}: ${shared.count} already created in ${getNodeContext(context) ? 'this execution' : 'the last hour'}, ${requests.length} more requested`,
			{
				description: isTool(context)
					? 'The limit was set by the owner of this workflow: do not try again.'
					: 'Give fewer items, or raise the limit.',
			},
		);
	shared.count += requests.length;
	return undefined;
}

/** Gives back what was taken for requests that were not sent. */
export function returnBudget(record: RunRecord, requests: RequestWork[]): void {
	const wasSent = ({ index, failed }: RequestWork) => record.hasSent(index, failed?.task.taskId);
	record.shared.count -= requests.filter((request) => !wasSent(request)).length;
}

/** @throws {UserError} unless each account has more credits than these */
async function checkCredits(requests: RequestWork[], keep: number): Promise<void> {
	const accounts = new Map<string, Item>(requests.map(({ item }) => [item.service.account, item]));
	for (const { service, settings } of accounts.values()) {
		const credits = await service.getCredits(settings).catch((error: Error) => error);
		if (credits instanceof Error)
			throw new RefusedRunError(
				`'Stop Below This Balance' is set in Options, but the account's credits couldn't be read: ${credits.message}`,
				{
					cause: credits,
					description:
						"Check 'Credits Path' in the credential, or remove 'Stop Below This Balance' from Options.",
				},
			);
		if (credits <= keep)
			throw new RefusedRunError(
				`The account has ${credits} credits, but 'Stop Below This Balance' in Options is ${keep}`,
				{ description: "Top up the account, or lower 'Stop Below This Balance'." },
			);
	}
}
