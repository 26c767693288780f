import { showInExecution } from '../../host/call';
import { NODE_NAME } from '../../lib/brand';
import { identifyTask, listTaskIds, type Opened } from './ledger';

const LABEL = NODE_NAME.replace(/\W+/g, '_');

/** How many IDs are listed: n8n stores 255 characters. */
export const MOST_SHOWN = 100;

/** The tasks of an execution: those of all nodes and runs, and of the executions that it retries. */
interface Costs {
	/** Those of the last run come first. */
	taskIds: string[];
	/** What each has cost, as far as that is known. A task counts once, whoever waits for it. */
	credits: Record<string, number>;
	/** The sum of `credits`; absent while no task's are known. */
	total?: number;
}

/**
 * Shows with the execution the IDs of its tasks, and the credits that they consumed. Nothing is thrown:
 * tasks may have been paid for.
 */
export function publishTasks(opened: Opened): void {
	try {
		showCosts(opened);
	} catch (error) {
		opened.call.context.logger.warn(`The tasks can't be shown: ${(error as Error).message}`);
	}
}

function showCosts({ call: { context, nodeContext }, ledger: { entries } }: Opened): void {
	if (!nodeContext) return;
	// n8n stores the flow context for all nodes of an execution, also in a sleep and for a retry.
	const flowContext = context.getContext('flow');
	const costs = (flowContext[LABEL] ??= { taskIds: [], credits: {} }) as unknown as Costs;
	for (const entry of entries)
		for (const { taskId, end, creditsConsumed } of entry.attempts) {
			const credits = end?.creditsConsumed ?? creditsConsumed;
			if (credits === undefined) continue;
			const key = identifyTask(entry, taskId);
			// In place of an earlier figure. The costs of all rounds of a loop aren't added anew in each.
			costs.total = (costs.total ?? 0) + credits - (costs.credits[key] ?? 0);
			costs.credits[key] = credits;
		}
	const taskIds = new Set([...listTaskIds(entries), ...costs.taskIds]);
	costs.taskIds = [...taskIds].slice(0, MOST_SHOWN);
	if (taskIds.size) showInExecution(context, `${LABEL}_tasks`, costs.taskIds.join(', '));
	if (costs.total !== undefined)
		showInExecution(context, `${LABEL}_credits`, String(addCredits([costs.total])));
}

/** Adds costs without the digits that binary fractions leave behind. */
export const addCredits = (costs: number[]): number =>
	Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
