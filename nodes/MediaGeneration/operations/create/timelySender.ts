import type { TaskService } from '../../api/client';
import { UnknownOutcomeError } from '../../api/failure';
import { readMcpDeadline } from '../../host/mcpCall';
import { settleBy } from '../../lib/timers';
import { RefusedRunError } from '../errors';
import type { RequestWork } from '../work';
import { CreationSender } from './sendCreation';

const buildLateError = (): RefusedRunError =>
	new RefusedRunError(
		'There was no time left to create the task, because MCP clients give up after a minute',
		{ description: 'The client may call again.' },
	);

const STILL_UNDERWAY = {
	message: 'The service took so long to create the task that the MCP client would have given up',
	advice: "Do not create it again. Its ID will be in n8n's log.",
};

/**
 * Sends creations, but below an MCP server answers while the client waits. From then on nothing is
 * sent. A creation under way may make a task, so it is finished, and its ID is logged.
 */
export class TimelySender extends CreationSender {
	/** In milliseconds since 1970. */
	private end?: number;

	override async create(step: RequestWork): ReturnType<CreationSender['create']> {
		const { index, item, request } = step;
		const end = (this.end ??= readMcpDeadline(item.context));
		let mayCreate = false;
		const createTask: TaskService['createTask'] = async (...sent) => {
			if (Date.now() >= end) throw buildLateError();
			mayCreate = true;
			return await item.service.createTask(...sent).catch((error: unknown) => {
				mayCreate = error instanceof UnknownOutcomeError;
				throw error;
			});
		};
		const service = Object.create(item.service, {
			createTask: { value: createTask },
		}) as TaskService;
		const created = await settleBy(end, super.create({ ...step, item: { ...item, service } }));
		if (created) return created;
		if (!mayCreate) return { error: buildLateError() };
		this.record.addUnknown(index, request, STILL_UNDERWAY);
		return { error: new UnknownOutcomeError(STILL_UNDERWAY) };
	}
}
