import { outcomeUnknown, ServiceError } from '../../service/client';
import { createdTaskOf, type Task } from '../../service/task';
import { numberOption, type Batch, type Entry } from '../operation';
import { inParallel } from '../parallel';
import { uploadMedia } from './mediaFiles';
import { concurrencyOption, Pace, rateOption } from './pace';
import type { TaskRequest } from './request';
import { SentRequests } from './sent';

export interface CreateRequest extends TaskRequest {
	callBackUrl?: string;
}

type Result = { json: Task } | { error: unknown };

/** An `Outcome` of creating: the task, or what kept it from being created; undefined: it was not begun. */
export type CreateOutcome = Result | undefined;

interface Created {
	outcomes: CreateOutcome[];
	/** Whether a task stems from an earlier execution, whose resume URL it calls. */
	elsewhere: boolean;
}

/**
 * Creates a task for every entry, at the rate in Options. A refusal for the rate is waited out, as it surely created
 * nothing; any other request is sent once, and not again when n8n repeats the run.
 */
export async function createAll(
	entries: Array<Entry<CreateRequest>>,
	{ context, service, stopsOnError }: Batch,
): Promise<Created> {
	const first = entries[0]?.item.option ?? (() => undefined);
	const pace = new Pace(numberOption(first, rateOption));
	const sent = new SentRequests(context);
	let elsewhere = false;

	const create = async ({ item, checked: request }: Entry<CreateRequest>): Promise<Result> => {
		const earlier = sent.earlier(item.index, request);
		if (earlier) {
			elsewhere ||= earlier.elsewhere;
			return { json: createdTaskOf(earlier.taskId, request.model) };
		}
		const unknown = sent.unknown(item.index, request);
		if (unknown !== undefined) return { error: outcomeUnknown(unknown) };
		const { model, callBackUrl, files } = request;
		let input: Record<string, unknown>;
		try {
			input = await uploadMedia(context, service, request, files, item.settings);
		} catch (error) {
			return { error };
		}
		for (;;) {
			await pace.turn();
			try {
				const taskId = await service.createTask({ model, callBackUrl, input }, item.settings);
				pace.passed();
				sent.created(item.index, request, taskId);
				return { json: createdTaskOf(taskId, model) };
			} catch (error) {
				if (error instanceof ServiceError && error.rateLimited && pace.refused()) continue;
				if (error instanceof ServiceError && error.outcome === 'unknown')
					sent.lost(item.index, request, error.message);
				return { error };
			}
		}
	};

	const outcomes = await inParallel(entries, create, {
		atOnce: numberOption(first, concurrencyOption),
		goesOn: (result) => !stopsOnError || 'json' in result,
	});
	if (outcomes.every((outcome) => outcome && 'json' in outcome)) sent.forget();
	return { outcomes, elsewhere };
}
