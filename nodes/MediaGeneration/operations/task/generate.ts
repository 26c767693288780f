import { modelFields } from '../../models';
import { buildOptionsField, prepareRequest, type CreateRequest } from '../create/request';
import { defineOperation, hasFailed } from '../operation';
import type { RecalledTask } from '../record';
import type { TaskWork } from '../work';
import { howToWaitOption, readHowToWait, readWaitSettings, waitOptions } from './waitOptions';

export const generate = defineOperation<CreateRequest | RecalledTask>({
	resource: 'task',
	value: 'generate',
	name: 'Generate',
	action: 'Generate a video or image',
	description:
		'Create a video, an image, speech or music, and continue with it when it is finished',
	fields: [...modelFields, buildOptionsField([howToWaitOption, ...waitOptions])],
	creates: true,
	prepare: prepareRequest,
	async run(prepared, context) {
		const first = prepared.find(({ request }) => !('taskId' in request)) ?? prepared[0];
		if (!first) return { outcomes: [] };
		const { openRecord } = await import('../record');
		const record = openRecord(context);
		const { woken } = record;
		const wait = record.openWait(() => ({
			...readWaitSettings(first.item),
			howToWait: readHowToWait(first.item),
		}));
		const services = prepared.map(({ item }) => item.service);
		const { decideWait } = await import('../wait/decide');
		const decision = woken ? {} : await decideWait(context, wait.settings.howToWait, services);
		const { createTasks, showTasks } = await import('../create/createTasks');
		const callBackUrl = decision.resumeUrl;
		const { results, elsewhere, isOver } = await createTasks(
			prepared.map(({ item, request }) => ({ item, request: { ...request, callBackUrl } })),
			context,
		);
		if (isOver) return { outcomes: showTasks(results) };
		const { waitForTasks } = await import('../wait/waitForTasks');
		const how = { record, wait, decision: elsewhere ? CALLED_BACK_ELSEWHERE : decision, woken };
		const works = results.filter((one): one is TaskWork => one !== undefined && !hasFailed(one));
		const { outcomes, fallAsleep } = await waitForTasks(context, works, how);
		const waited = outcomes.values();
		return {
			outcomes: results.map((one) => (!one || hasFailed(one) ? one : waited.next().value)),
			fallAsleep,
		};
	},
});

/** Why a retry stays awake. The service sends callbacks to the execution that created the tasks. */
const CALLED_BACK_ELSEWHERE = {
	reason: 'because tasks of this run were created by an earlier execution',
};
