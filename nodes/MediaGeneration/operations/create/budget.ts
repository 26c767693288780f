import { UserError, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { isBlank } from '../../models/field';
import { isTool } from '../nodeContext';
import type { Item, Prepared } from '../operation';

/** In Options: how many tasks the node may create. */
export const maxTasksOption: INodeProperties = {
	displayName: 'Maximum Tasks per Run',
	name: 'maxTasksPerRun',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 10,
	description:
		'How many tasks this node may create in one execution of the workflow, over all loops and calls of an AI agent. If there are more items, nothing is created.',
};

/** In Options: what the account must have. */
export const keepCreditsOption: INodeProperties = {
	displayName: 'Keep at Least (Credits)',
	name: 'keepCredits',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Creates nothing unless the account has more credits than this. What a task will cost is not known before.',
};

/**
 * Counts the tasks of a node in one execution. n8n keeps the node's context with it, also while it sleeps and between the calls of an
 * agent; a call of an MCP server is an execution of its own.
 */
export class TaskBudget {
	private readonly kept: { sentTasks?: number };

	constructor(context: IExecuteFunctions) {
		this.kept = context.getContext('node');
	}

	/**
	 * Takes so many tasks from the budget at once, as calls of an agent may run side by side.
	 * @throws {UserError} when that is more than Maximum Tasks per Run allows
	 */
	take(count: number, option: Item['option'], context: IExecuteFunctions): void {
		const { sentTasks = 0 } = this.kept;
		const limit = readLimit(option, maxTasksOption);
		if (limit !== undefined && sentTasks + count > limit)
			throw new UserError(
				`'Maximum Tasks per Run' is ${limit} in Options, ${sentTasks} were created before in this execution, and this run is for ${count} more`,
				{
					description: isTool(context)
						? 'Nothing was created. The limit was set by the owner of this workflow: do not try again.'
						: 'Nothing was created. Give fewer items, or raise the limit.',
				},
			);
		this.kept.sentTasks = sentTasks + count;
	}

	/** Returns those that were surely not created. */
	giveBack(count: number): void {
		this.kept.sentTasks = (this.kept.sentTasks ?? 0) - count;
	}
}

/**
 * Asks each account once for its credits, if some are to be kept.
 * @throws {UserError} when an account has too few, or the service does not tell
 */
export async function checkCredits(prepared: Array<Prepared<unknown>>): Promise<void> {
	const [first] = prepared;
	if (!first) return;
	const { option, settings } = first.item;
	const keep = readLimit(option, keepCreditsOption);
	if (keep === undefined) return;
	const accounts = new Map<string, TaskService>(
		prepared.map(({ item: { service } }) => {
			const { baseUrl, accessToken } = service.credentials;
			return [JSON.stringify([baseUrl, accessToken]), service];
		}),
	);
	for (const service of accounts.values()) {
		const credits = await service.getCredits(settings).catch((error: Error) => {
			throw new UserError(
				`'Keep at Least' is set in Options, but the service does not tell the credits: ${error.message}`,
				{
					description:
						"Nothing was created. Check 'Credits Path' in the credential, or remove 'Keep at Least' from Options.",
				},
			);
		});
		if (credits <= keep)
			throw new UserError(
				`The account has ${credits} credits, and 'Keep at Least' is ${keep} in Options`,
				{ description: "Nothing was created. Top up the account, or lower 'Keep at Least'." },
			);
	}
}

/** Reads a limit; undefined where the user has set none. */
function readLimit(
	option: Item['option'],
	{ name, displayName }: INodeProperties,
): number | undefined {
	const value = option(name);
	if (isBlank(value)) return undefined;
	const limit = Number(value);
	if (Number.isFinite(limit) && limit >= 0) return limit;
	throw new UserError(`'${displayName}' in Options must be a number`, {
		description: 'Nothing was created. Correct the option, then run the node again.',
	});
}
