import { parse } from 'flatted';
import type { IDataObject } from 'n8n-workflow';
import type { Execution, RunData } from './n8n.cts';
import { CALM } from './plans.cts';
import { GOOD, type Fate } from './service.cts';
import { World, type Plan } from './world.cts';

/** Worlds for tests of one event. All else goes well. */

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
	rejected: { creation: 'rejected' },
	unknown: { creation: 'reset' },
} as const satisfies Record<string, Partial<Fate>>;

export type FateName = keyof typeof FATES;
type FateInput = FateName | Partial<Fate>;

const toFate = (input: FateInput): Fate => ({
	...GOOD,
	...(typeof input === 'string' ? FATES[input] : input),
});

/** The fates of an item's tasks, one creation after the other, or one fate for all of them. */
export type ItemFates = FateInput | FateInput[];

/** Builds a node with the fates of its items. */
export const buildFilm = (...items: ItemFates[]): Plan['steps'][0] => ({
	node: 'Film',
	items: items.map((fates) => [fates].flat().map(toFate)),
});

/** Builds a world, by default with one node whose items have these fates. */
export const buildWorld = (items: ItemFates[], more: Partial<Plan> = {}): World =>
	new World({ ...CALM, steps: [buildFilm(...items)], ...more });

/** Lets everything happen, and checks what must always hold. */
export async function runAndCheck(world: World) {
	await world.run();
	world.check();
	return readLast(world);
}

/** Reads the output of the last step of the last execution, and how often each item of the first step was sent. */
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
		sent: first.items.map((_, item) => service.listCreations(item).length),
	};
}

/** Reads what n8n has stored of an execution. */
export const readStored = ({ stored }: Execution): RunData => parse(stored) as RunData;

/** Reads what n8n has stored for the node `Film`. */
export const readNodeContext = (execution: Execution): IDataObject =>
	readStored(execution).executionData.contextData['node:Film'] as IDataObject;
