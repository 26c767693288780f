import type { Context } from './index.cts';
import { formatResult, type FormattedResult } from './results.cts';
import type { TaskRecord } from './tasks.cts';
import { rejectAll, Rejection, type Issue } from './validation.cts';

type Description = ReturnType<typeof describe>;

const FAIL_MESSAGE = 'The generation failed: the prompt was refused.';

/** Collects what the details and the callback of an ended task say, with fresh result links. */
export function describe(context: Context, record: TaskRecord) {
	const { state, faults } = record;
	const { failCode = 501, said } = faults;
	const hasFailed = state === 'fail';
	return {
		record,
		result: state === 'success' ? formatResult(context, record) : undefined,
		failure: hasFailed ? { failCode: String(failCode), failMsg: FAIL_MESSAGE } : undefined,
		remark: state === 'success' && said ? { failMsg: said } : undefined,
	};
}

/** What differs between services of this family. */
interface Dialect {
	/** The states of a task before its end, in their order. */
	states: string[];
	/** Uploads have a host of their own. */
	uploadsApart: boolean;
	/** A POST without a Content-Type is rejected, as a request without a token is. */
	postNeedsContentType: boolean;
	/** A task that fails costs nothing. */
	refundsFailures: boolean;
	/** A 401 has `data: null`. */
	hasDataIn401: boolean;
	creditsRejection: Rejection;
	callbackHeaders: Record<string, string>;
	/** The data of the answer to a creation. */
	describeCreation: (taskId: string) => object;
	/** The data of a task's details. */
	describeTask: (task: Description) => object;
	describeCallback: (task: Description) => object;
	/** Returns why an input is rejected, or nothing if it is taken. */
	rejectInput: (issues: Issue[]) => Rejection | undefined;
}

/** Of these differences, the contract describes only the callback. The rest is as older documents of such services say. */
const contract: Dialect = {
	states: ['waiting', 'queuing', 'generating'],
	uploadsApart: false,
	postNeedsContentType: false,
	refundsFailures: false,
	hasDataIn401: true,
	creditsRejection: new Rejection(402, 'The account has too few credits for a task'),
	callbackHeaders: { 'content-type': 'application/json', 'user-agent': 'media-task-service' },
	describeCreation: (taskId) => ({ taskId }),
	describeTask: ({ record, result, failure, remark }) => ({
		...describeRecord(record),
		param: JSON.stringify({
			model: record.model,
			callBackUrl: record.callBackUrl,
			input: record.input,
		}),
		resultJson: '',
		...result,
		failCode: '',
		failMsg: '',
		...failure,
		...remark,
		costTime: record.completeTime && record.completeTime - record.createTime,
		updateTime: record.updateTime,
		// The service says this only at the end.
		...(record.completeTime && { creditsConsumed: record.creditsConsumed }),
	}),
	describeCallback: ({ record: { taskId }, failure }) => ({
		taskId,
		code: failure ? Number(failure.failCode) || 501 : 200,
		msg: failure?.failMsg ?? 'success',
		data: { task_id: taskId, callbackType: failure ? 'task_failed' : 'task_completed' },
	}),
	rejectInput: rejectAll,
};

/** A service whose answers clients recorded in 2026. */
const recorded: Dialect = {
	states: ['waiting', 'generating'],
	uploadsApart: true,
	postNeedsContentType: true,
	refundsFailures: true,
	hasDataIn401: false,
	creditsRejection: new Rejection(500, 'Credits insufficient'),
	callbackHeaders: {
		'content-type': 'application/json; charset=utf-8',
		'user-agent': 'okhttp/3.14.9',
	},
	describeCreation: (taskId) => ({ taskId, recordId: taskId }),
	describeTask: ({ record, result, failure, remark }) => ({
		...describeRecord(record),
		resultJson: '',
		...result,
		failCode: null,
		failMsg: null,
		...failure,
		...remark,
		creditsConsumed: record.creditsConsumed,
		operationType: record.model,
		paramJson: describeParam(record),
		response: result ? readContent(result) : null,
		successFlag: { success: 1, fail: 3 }[record.state] ?? 0,
	}),
	describeCallback: ({ record, result, failure, remark }) => ({
		code: failure ? 501 : 200,
		msg: failure ? 'The task has failed.' : 'The task has completed.',
		data: {
			...describeRecord(record),
			...result,
			...failure,
			...remark,
			updateTime: record.updateTime,
			creditsConsumed: record.creditsConsumed,
		},
	}),
	rejectInput(issues) {
		const [issue, ...others] = issues.filter(({ kind }) => kind !== 'unknown');
		if (issue?.kind === 'missing') return new Rejection(500, `${issue.name} is required`);
		if (issue?.kind === 'notAllowed')
			return new Rejection(500, `${issue.name} is not within the range of allowed options`);
		return issue && rejectAll([issue, ...others]);
	},
};

/** Describes the request of a creation, with its input as text. */
const describeParam = ({ input, callBackUrl, model }: TaskRecord) =>
	JSON.stringify({ input: JSON.stringify(input), callBackUrl, model });

/** Reads the result as an object. */
function readContent({ resultJson, response }: FormattedResult) {
	if (response) return response;
	return typeof resultJson === 'string' ? (JSON.parse(resultJson) as object) : resultJson;
}

/** Describes what details and callbacks have in common. */
function describeRecord(record: TaskRecord) {
	const { taskId, model, state, createTime, completeTime } = record;
	return {
		taskId,
		model,
		state,
		param: describeParam(record),
		costTime: completeTime && Math.round((completeTime - createTime) / 1000),
		completeTime,
		createTime,
	};
}

export const dialects = { contract, recorded };

export type DialectName = keyof typeof dialects;
