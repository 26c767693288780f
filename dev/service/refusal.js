/** A request refused as the service family does: HTTP 200, with the reason in the body's `code` and `msg`. */
class Refusal extends Error {
	/**
	 * @param {number} code the envelope's code, for example 422
	 * @param {string} msg the envelope's text
	 */
	constructor(code, msg) {
		super(msg);
		this.code = code;
	}
}

module.exports = { Refusal };
