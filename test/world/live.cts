import { parse } from 'flatted';
import type { IDataObject } from 'n8n-workflow';
import type { Execution, RunData } from './n8n.cts';
import { CALM } from './plans.cts';
import { GOOD, type Fate } from './service.cts';
import { World, type Plan } from './world.cts';

/** Worlds in which one thing happens, for tests of it. All else goes well. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** Both ways to wait. */
export const AWAKE_OR_ASLEEP = ['polling', 'callback'] as const;

/** What often becomes of a creation, or of its task. */
const FATES = {
	good: {},
	expired: { end: 'expired' },
	failed: { end: 'failed' },
	silent: { end: 'silent' },
	endless: { end: 'never' },
	refused: { creation: 'refused' },
	unknown: { creation: 'reset' },
} as const satisfies Record<string, Partial<Fate>>;

export type FateName = keyof typeof FATES;
type FateInput = FateName | Partial<Fate>;

const toFate = (some: FateInput): Fate => ({
	...GOOD,
	...(typeof some === 'string' ? FATES[some] : some),
});

/** The fates of an item's tasks, one creation after the other, or of all of them. */
export type ItemFates = FateInput | FateInput[];

/** A node with the fates of its items. */
export const film = (...items: ItemFates[]): Plan['steps'][0] => ({
	node: 'Film',
	items: items.map((fates) => [fates].flat().map(toFate)),
});

/** A world with an execution of one node, by default, whose items have these fates. */
export const build = (items: ItemFates[], more: Partial<Plan> = {}): World =>
	new World({ ...CALM, steps: [film(...items)], ...more });

/** Lets everything happen, of which all must hold that always does. */
export async function runAndCheck(world: World) {
	await world.run();
	world.check();
	return readLast(world);
}

/** What came out of the last step of the last execution, and how much was sent for each item of the first step. */
export function readLast(world: World) {
	const { n8n, service, plan } = world;
	const [first] = plan.steps as [Plan['steps'][0]];
	const execution = n8n.executions.at(-1) as Execution;
	const { items = [], errors = [] } = execution.ended.at(-1) ?? {};
	return {
		world,
		execution,
		items,
		errors,
		error: execution.error,
		statuses: items.map(({ json }) => json.status),
		taskIds: items.map(({ json }) => json.taskId),
		sent: first.items.map((_, item) => service.listOf(item).length),
	};
}

/** What n8n has stored of an execution. */
export const readStored = ({ stored }: Execution): RunData => parse(stored) as RunData;

/** What n8n has stored for its first node. */
export const readKept = (execution: Execution): IDataObject =>
	readStored(execution).executionData.contextData['node:Film'] as IDataObject;
