const { resultFiles } = require('./models');

/** @typedef {'waiting' | 'queuing' | 'generating' | 'success' | 'fail'} TaskState */
/**
 * @typedef {object} CallbackAttempt
 * @property {number} at when it was sent, in ms
 * @property {number} attempt from 1
 * @property {number | null} status the receiver's HTTP status; null when there was no answer
 * @property {any} body as sent
 * @property {Record<string, string>} headers as sent, names in lower case
 * @property {string} answer the receiver's body, or why there was none
 */
/**
 * @typedef {object} TaskRecord
 * @property {string} taskId
 * @property {string} model
 * @property {Record<string, any>} input
 * @property {string | undefined} callBackUrl
 * @property {TaskState} state
 * @property {number} createTime in ms
 * @property {number} updateTime in ms
 * @property {number | null} completeTime in ms; null until the end
 * @property {string} resultJson empty until success
 * @property {string} failCode empty unless failed
 * @property {string} failMsg empty unless failed
 * @property {number} creditsConsumed
 * @property {import('./faults').TaskFaults} faults
 * @property {any} request the whole body as received
 * @property {CallbackAttempt[]} callbacks
 */

/** @type {Record<TaskState, number>} */
const progress = { waiting: 0, queuing: 10, generating: 50, success: 100, fail: 100 };

/**
 * @param {TaskRecord} record
 * @returns {boolean}
 */
const hasEnded = ({ state }) => state === 'success' || state === 'fail';

/**
 * What the service tells of a task.
 *
 * @param {{ settings: import('./settings').Settings, resultsUrl: () => string }} service
 */
function createDetails({ settings, resultsUrl }) {
	/** @param {TaskRecord} record */
	function resultJson({ taskId, model }) {
		const { resultSeconds } = settings;
		const query = resultSeconds === null ? '' : `?expires=${Date.now() + resultSeconds * 1000}`;
		const links = Object.entries(resultFiles(model)).map(([field, names]) => [
			field,
			names.map((name) => `${resultsUrl()}/results/${taskId}/${name}${query}`),
		]);
		return JSON.stringify(Object.fromEntries(links));
	}

	return {
		/**
		 * How the task ends.
		 *
		 * @param {TaskRecord} record
		 * @returns {Pick<TaskRecord, 'state' | 'resultJson' | 'failCode' | 'failMsg'>}
		 */
		outcome(record) {
			if (record.faults.fail) {
				const failMsg = 'The generation failed: the prompt was refused.';
				return { state: 'fail', resultJson: '', failCode: '501', failMsg };
			}
			return { state: 'success', resultJson: resultJson(record), failCode: '', failMsg: '' };
		},

		/**
		 * The task record of the details endpoint; result links are fresh ones.
		 *
		 * @param {TaskRecord} record
		 */
		details(record) {
			const { completeTime, createTime, state } = record;
			return {
				taskId: record.taskId,
				model: record.model,
				state,
				param: JSON.stringify(record.request),
				resultJson: state === 'success' ? resultJson(record) : record.resultJson,
				failCode: record.failCode,
				failMsg: record.failMsg,
				costTime: completeTime === null ? null : completeTime - createTime,
				createTime,
				updateTime: record.updateTime,
				completeTime,
				creditsConsumed: record.creditsConsumed,
				progress: progress[state],
			};
		},
	};
}

module.exports = { createDetails, hasEnded };
