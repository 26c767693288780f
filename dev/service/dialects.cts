import type { TaskRecord } from './tasks.cts';
import { Refusal, type Issue } from './validation.cts';

/** A task to be described: with its result if it has succeeded, else with what ended it, if it has failed. */
export interface Description {
	record: TaskRecord;
	result?: object;
	failure?: { failCode: string; failMsg: string };
}

/** Where services of this family differ. */
interface Dialect {
	/** The states of a task before its end, in their order. */
	states: string[];
	/** Uploads have a host of their own. */
	uploadsApart: boolean;
	/** A GET must have a Content-Type too. */
	needsContentType: boolean;
	/** A 401 has `data: null`. */
	hasDataIn401: boolean;
	creditsRefusal: { code: number; msg: string };
	callbackHeaders: Record<string, string>;
	/** The data of the answer to a creation. */
	describeCreation: (taskId: string) => object;
	/** The data of a task's details. */
	describeTask: (task: Description) => object;
	describeCallback: (task: Description) => object;
	/** Returns why an input is refused, or nothing if it is taken. */
	refuseInput: (issues: Issue[]) => Refusal | undefined;
}

/** In percent, by the states before the end. */
const progress: Record<string, number> = { waiting: 0, queuing: 10, generating: 50 };

/** The contract's callback, and around it what older documents of the family say. */
const contract: Dialect = {
	states: ['waiting', 'queuing', 'generating'],
	uploadsApart: false,
	needsContentType: false,
	hasDataIn401: true,
	creditsRefusal: { code: 402, msg: 'The account has too few credits for a task' },
	callbackHeaders: { 'content-type': 'application/json', 'user-agent': 'media-task-service' },
	describeCreation: (taskId) => ({ taskId }),
	describeTask({ record, result, failure }) {
		const { taskId, model, callBackUrl, input, state, createTime, completeTime } = record;
		return {
			taskId,
			model,
			state,
			param: JSON.stringify({ model, callBackUrl, input }),
			resultJson: '',
			...result,
			failCode: '',
			failMsg: '',
			...failure,
			costTime: completeTime && completeTime - createTime,
			createTime,
			updateTime: record.updateTime,
			completeTime,
			creditsConsumed: record.creditsConsumed,
			progress: progress[state] ?? 100,
		};
	},
	describeCallback: ({ record: { taskId }, failure }) => ({
		taskId,
		code: failure ? Number(failure.failCode) : 200,
		msg: failure?.failMsg ?? 'success',
		data: { task_id: taskId, callbackType: failure ? 'task_failed' : 'task_completed' },
	}),
	refuseInput: (issues) => refuseAll(issues),
};

/** A service as clients recorded it in 2026. */
const recorded: Dialect = {
	states: ['waiting', 'generating'],
	uploadsApart: true,
	needsContentType: true,
	hasDataIn401: false,
	creditsRefusal: { code: 500, msg: 'Credits insufficient' },
	callbackHeaders: {
		'content-type': 'application/json; charset=utf-8',
		'user-agent': 'okhttp/3.14.9',
	},
	describeCreation: (taskId) => ({ taskId, recordId: taskId }),
	describeTask: ({ record, result, failure }) => ({
		...describeRecord(record),
		resultJson: '',
		...result,
		failCode: null,
		failMsg: null,
		...failure,
	}),
	describeCallback: ({ record, result, failure }) => ({
		code: failure ? 501 : 200,
		msg: failure ? 'The task has failed.' : 'The task has completed.',
		data: {
			...describeRecord(record),
			...result,
			...failure,
			updateTime: record.updateTime,
			creditsConsumed: record.creditsConsumed,
		},
	}),
	refuseInput(issues) {
		const [issue, ...others] = issues.filter(({ kind }) => kind !== 'unknown');
		if (issue?.kind === 'missing') return new Refusal(500, `${issue.name} is required`);
		if (issue?.kind === 'notAllowed')
			return new Refusal(500, `${issue.name} is not within the range of allowed options`);
		return issue && refuseAll([issue, ...others]);
	},
};

/** What a record and a callback have in common. */
function describeRecord(record: TaskRecord) {
	const { taskId, model, callBackUrl, input, state, createTime, completeTime } = record;
	return {
		taskId,
		model,
		state,
		param: JSON.stringify({ input: JSON.stringify(input), callBackUrl, model }),
		costTime: completeTime && Math.round((completeTime - createTime) / 1000),
		completeTime,
		createTime,
	};
}

function refuseAll(issues: Issue[]) {
	if (issues.length === 0) return undefined;
	return new Refusal(422, issues.map(({ text }) => text).join('; '));
}

export const dialects = { contract, recorded };

export type DialectName = keyof typeof dialects;
