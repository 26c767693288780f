/**
 * The value that this share of the values is not above, for example 0.99.
 * @param {number[]} values
 * @param {number} share
 */
const percentile = (values, share) =>
	[...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN;

/** @param {number[]} values */
const median = (values) => percentile(values, 0.5);

module.exports = { median, percentile };
