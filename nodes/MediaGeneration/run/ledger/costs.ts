import { showInExecution } from '../../host/call';
import { NODE_NAME } from '../../lib/brand';
import { type Attempt, identifyTask, type Ledger, listTaskIds, type OpenedCall } from './ledger';

const LABEL = NODE_NAME.replace(/\W+/g, '_');

/** How many IDs are listed: n8n stores 255 characters. */
export const MOST_SHOWN = 100;

/** The tasks of an execution, of all its nodes and runs, and of the executions that it retries. */
interface Costs {
	/** The tasks of the last run come first. */
	taskIds: string[];
	/** What each task has cost, as far as that is known. A task counts once, whoever waits for it. */
	credits: Record<string, number>;
	/** The sum of `credits`; absent while no credits are known. */
	total?: number;
}

/**
 * Shows with the execution the IDs of its tasks, and the credits that they consumed. Nothing is thrown:
 * tasks may have been paid for.
 */
export function publishTasks(opened: OpenedCall): void {
	try {
		showCosts(opened);
	} catch (error) {
		opened.call.context.logger.warn(`The tasks can't be shown: ${(error as Error).message}`);
	}
}

function showCosts({ call: { context, nodeContext }, ledger: { entries } }: OpenedCall): void {
	if (!nodeContext) return;
	// n8n stores the flow context for all nodes of an execution, also in a sleep and for a retry.
	const flowContext = context.getContext('flow');
	const costs = (flowContext[LABEL] ??= { taskIds: [], credits: {} }) as unknown as Costs;
	for (const entry of entries)
		for (const attempt of entry.attempts) {
			const credits = readCost(attempt);
			if (credits === undefined) continue;
			const key = identifyTask(entry, attempt.taskId);
			// In place of the figure before. The costs of all rounds of a loop aren't added anew in each.
			costs.total = (costs.total ?? 0) + credits - (costs.credits[key] ?? 0);
			costs.credits[key] = credits;
		}
	const taskIds = new Set([...listTaskIds(entries), ...costs.taskIds]);
	costs.taskIds = [...taskIds].slice(0, MOST_SHOWN);
	if (taskIds.size) showInExecution(context, `${LABEL}_tasks`, costs.taskIds.join(', '));
	if (costs.total !== undefined)
		showInExecution(context, `${LABEL}_credits`, String(addCredits([costs.total])));
}

/** Reads what a task costs: the last figure of the service, which may have none at the end. */
const readCost = ({ end, creditsConsumed }: Attempt): number | undefined =>
	end?.creditsConsumed ?? creditsConsumed;

/** Sums up what this execution has paid for. What it has adopted was paid for by an earlier execution. */
export function sumUp({ entries }: Ledger) {
	const costs = new Map<string, number>();
	let [adopted, tries, failed] = [0, 0, 0];
	for (const entry of entries) {
		const own = entry.attempts.filter((attempt) => !attempt.adopted);
		if (entry.attempts.length && !own.length) adopted++;
		tries = Math.max(tries, own.length);
		for (const attempt of own) {
			const credits = readCost(attempt);
			if (credits !== undefined) costs.set(identifyTask(entry, attempt.taskId), credits);
			if (attempt.end?.status === 'failed') failed++;
		}
	}
	const credits = costs.size ? addCredits([...costs.values()]) : undefined;
	return { credits, tries, failed, adopted };
}

/** Adds costs without the digits that binary fractions leave behind. */
export const addCredits = (costs: number[]): number =>
	Number(costs.reduce((total, cost) => total + cost, 0).toFixed(6));
