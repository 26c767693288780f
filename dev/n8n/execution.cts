/** @typedef {{ json: any, binary?: any, pairedItem?: any, error?: any }} Item */

/** One execution, with the data that its nodes gave out. */
class Execution {
	/** @param {any} raw as n8n stores it, `data` parsed */
	constructor(raw) {
		this.raw = raw;
		/** @type {string} */
		this.id = raw.id;
		/** @type {string} */
		this.status = raw.status;
	}

	/**
	 * The items, binary references included, that a node gave out in its last run.
	 * @param {string} nodeName
	 * @param {{ branch?: number }} [options]
	 * @returns {Item[]}
	 */
	output(nodeName, { branch = 0 } = {}) {
		const runs = this.raw.data.resultData.runData[nodeName] ?? [];
		return runs.at(-1)?.data?.main?.[branch] ?? [];
	}

	/**
	 * The `json` of the items that a node gave out.
	 * @param {string} nodeName
	 * @param {{ branch?: number }} [options]
	 * @returns {any[]}
	 */
	items(nodeName, options) {
		return this.output(nodeName, options).map(({ json }) => json);
	}

	/**
	 * What a node ended with, or what the execution did when no node is named.
	 * @param {string} [nodeName]
	 * @returns {any}
	 */
	error(nodeName) {
		const { runData, error } = this.raw.data.resultData;
		return nodeName ? runData[nodeName]?.at(-1)?.error : error;
	}
}

module.exports = { Execution };
