import type { IWebhookFunctions } from 'n8n-workflow';
import { newTask, type Task } from '../../api/task';
import { readNodeContext } from '../../host/sleep';
import { readRecord, type StoredRecord } from '../../run/ledger';
import type { Sleep, Wait, WaitSettings } from './wait';

/** A run that sleeps, as looks and webhooks need it. */
export interface SleepingRun {
	tasks: Task[];
	settings: WaitSettings;
	asleep: Sleep;
}

/**
 * Reads the record of the run that sleeps where a webhook is called; undefined if none does.
 * @throws {UserError} when another version of the package has stored it
 */
export function readSleepingRun(context: IWebhookFunctions): SleepingRun | undefined {
	const stored = readRecord(readNodeContext(context));
	const asleep = stored?.wait?.asleep;
	return stored?.wait && asleep ? toSleepingRun(stored, stored.wait, asleep) : undefined;
}

export const toSleepingRun = (
	{ sent }: StoredRecord,
	{ settings }: Wait,
	asleep: Sleep,
): SleepingRun => ({
	tasks: Object.values(sent).flatMap(({ taskId, model, warning, failed }) =>
		taskId ? (failed ?? newTask(taskId, model, warning)) : [],
	),
	settings,
	asleep,
});
