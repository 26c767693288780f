import { UserError, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';
import type { TaskService } from '../../api/client';
import { identifyAccount } from '../../api/endpoints';
import { hasExecution, isTool, readExecutionId, readShared, writeShared } from '../nodeContext';
import { readOption, type Item, type Prepared } from '../operation';

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
 * Counts the tasks of a node in one execution. n8n keeps the node's context with it, also while it sleeps and between the calls of
 * an agent. Each call of an MCP server is an execution of its own. Retry from the executions list passes the context to another
 * execution, where the count begins again. n8n's Agents have no execution, so the calls of an hour are counted.
 */
export class TaskBudget {
	private readonly count: { executionId: string; sent: number };

	constructor(context: IExecuteFunctions) {
		const executionId = readExecutionId(context);
		const kept = readShared(context, 'budget') as TaskBudget['count'] | undefined;
		const hasBegun = kept?.executionId === executionId;
		this.count = hasBegun ? kept : { executionId, sent: 0 };
		if (!hasBegun) writeShared(context, 'budget', this.count);
	}

	/**
	 * Takes `count` tasks from the budget in one step, because calls of an agent may run side by side.
	 * @throws {UserError} when that is more than Maximum Tasks per Run allows
	 */
	take(count: number, option: Item['option'], context: IExecuteFunctions): void {
		const { sent } = this.count;
		const limit = readOption(option, maxTasksOption) as number | undefined;
		if (limit !== undefined && sent + count > limit)
			throw new UserError(
				`'Maximum Tasks per Run' is ${limit} in Options, ${sent} were created before in ${hasExecution(context) ? 'this execution' : 'the last hour'}, and this run is for ${count} more`,
				{
					description: isTool(context)
						? `Nothing was created. The limit was set by the owner of this ${hasExecution(context) ? 'workflow' : 'agent'}: do not try again.`
						: 'Nothing was created. Give fewer items, or raise the limit.',
				},
			);
		this.count.sent += count;
	}

	/** Returns those that were certainly not created. */
	giveBack(count: number): void {
		this.count.sent -= count;
	}
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
