import type { IExecuteFunctions } from 'n8n-workflow';
import type { Task } from '../../api/task';
import { readDeadline } from '../../host/deadline';
import { getNodeContext } from '../../host/nodeContext';
import { isSingleNode, isTool } from '../../host/starter';
import { settleBy } from '../../lib/timers';
import { stopsOnError } from '../errors';
import {
	hasFailed,
	type Failed,
	type Item,
	type Outcome,
	type OutputItem,
	type RunResult,
} from '../operation';
import type { Wait } from '../record';
import { toFileSource } from '../results/resultFiles';
import type { WaitDecision } from './decideWait';
import { Looker, type WaitSettings } from './looker';
import { sayEndedEarly, sayWhy, showOutcome } from './outcomeHints';
import { pollUntilEnded } from './poll';
import { fallAsleep } from './sleep';
import { addNote, toToolResult } from './toolResult';

/**
 * If creating took longer than this, in milliseconds, the node checks whether all tasks have ended.
 * n8n answers 409 to callbacks until the execution is parked, so an early one is lost.
 */
const CHECK_AFTER = 1_000;

/**
 * The time left to n8n before its timeout, in milliseconds, or a fifth of the time if that is less.
 * n8n needs it to store the output and to run the nodes after this one.
 */
const BEFORE_DEADLINE = 3_000;

/** The settings of a wait, for all items of a run. */
export interface RunSettings extends WaitSettings {
	/** The longest wait, in milliseconds. */
	limit: number;
	/** The longest wait of an AI agent, in milliseconds. */
	toolLimit: number;
}

/** What became of the creation for an item. */
type Created = { item: Item; result: { task: Task } | Failed | undefined };

/**
 * Waits for the tasks of a run, asleep or awake.
 * @param started when their creation began, in milliseconds since 1970
 */
export async function waitForTasks(
	context: IExecuteFunctions,
	created: Created[],
	{ wait, decision, started }: { wait: Wait<RunSettings>; decision: WaitDecision; started: number },
): Promise<RunResult> {
	const stopped = context.getExecutionCancelSignal();
	if (
		stopped?.aborted ||
		(stopsOnError(context) && created.some(({ result }) => hasFailed(result)))
	)
		return { outcomes: toOutcomes(created, (task) => [{ json: task }]) };
	const { settings } = wait;
	const begun = (wait.begun ??= Date.now());
	const until =
		begun + (isTool(context) ? Math.min(settings.limit, settings.toolLimit) : settings.limit);
	const deadline = readDeadline(context);
	const endBy = deadline - Math.min(BEFORE_DEADLINE, (deadline - Date.now()) / 5);
	const looker = new Looker(
		created.flatMap(({ result }) => (isTask(result) ? result.task : [])),
		settings,
	);
	const { batch } = looker;
	const toItems = (task: Task) => toOutput(context, batch.toOutput(task.taskId));
	const getSource = createSources(created);
	const { resumeUrl, reason } = decision;
	if (reason !== undefined) sayWhy(context, decision);
	if (resumeUrl === undefined) {
		await pollUntilEnded(looker, { getSource, until, endBy, stopped });
		if (!batch.isEnded && endBy < until) sayEndedEarly(context);
	} else {
		const look = { getSource, untilOpen: true };
		if (begun - started > CHECK_AFTER) await settleBy(endBy, looker.look(batch.openIds, look));
		const { credentials } = (created[0] as Created).item.service;
		if (!batch.isEnded)
			return {
				outcomes: toOutcomes(created, toItems),
				fallAsleep: async (items) =>
					await fallAsleep(context, items, { wait, until, resumeUrl, credentials }),
			};
	}
	await settleBy(endBy, looker.collectFiles(getSource));
	showOutcome(context, batch.tasks);
	return { outcomes: toOutcomes(created, toItems) };
}

const isTask = (result: Created['result']): result is { task: Task } =>
	result !== undefined && !hasFailed(result);

/** Finds the service of each task's item, and where its files are stored. */
function createSources(created: Created[]) {
	const items = new Map(
		created.flatMap(({ item, result }) =>
			isTask(result) ? [[result.task.taskId, item] as const] : [],
		),
	);
	return (taskId: string) => toFileSource(items.get(taskId) as Item);
}

/**
 * Puts the output of each task at its item's position. The items of a retry may be the output of the
 * earlier execution, with an item for each file; the first one then has those of the whole task.
 */
function toOutcomes(created: Created[], toItems: (task: Task) => OutputItem[]): Outcome[] {
	const seen = new Set<string>();
	return created.map(({ result }) => {
		if (!isTask(result)) return result;
		const { task } = result;
		const isFirst = !seen.has(task.taskId);
		seen.add(task.taskId);
		return { items: isFirst ? toItems(task) : [] };
	});
}

/** Fits the output of a task to whoever gets it: an agent's model, or n8n's AI assistant. */
function toOutput(context: IExecuteFunctions, output: OutputItem[]): OutputItem[] {
	return output.map(({ json, ...files }) => {
		const task = json as Task;
		if (isTool(context))
			return { ...files, json: toToolResult(task, { linksOnly: !getNodeContext(context) }) };
		return { ...files, json: isSingleNode(context) ? addNote(task) : task };
	});
}
