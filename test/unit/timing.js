const { readFileSync } = require('node:fs');
const path = require('node:path');
const ts = require('typescript');

const SOURCE = path.resolve(__dirname, '../../nodes/MediaGeneration/service/signature.ts');
const COMPARISON = /equalInConstantTime\(signature, (sign\([^)]*\))\)/;

/**
 * An HMAC that gives the same long text each time, so that what is measured is the comparison and not the HMAC: over the
 * 44 characters of a real signature, the difference of some nanoseconds drowns in the microseconds of the HMAC.
 */
const LENGTH = 1 << 18;
const expected = 'a'.repeat(LENGTH);
const fakeCrypto = {
	...require('node:crypto'),
	createHmac: () => ({ update: () => ({ digest: () => expected }) }),
};

/**
 * `matchedKey` of the package, with the HMAC above.
 * @param {{ naive?: boolean }} [options] `naive`: its comparison is replaced by `===`
 * @returns {typeof import('../../nodes/MediaGeneration/service/signature').matchedKey}
 */
function loadMatchedKey({ naive = false } = {}) {
	const source = readFileSync(SOURCE, 'utf8');
	if (!COMPARISON.test(source)) throw new Error(`${SOURCE} has no comparison to replace`);
	const { outputText } = ts.transpileModule(
		naive ? source.replace(COMPARISON, 'signature === $1') : source,
		{ compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 } },
	);
	const module = { exports: /** @type {any} */ ({}) };
	new Function('module', 'exports', 'require', outputText)(
		module,
		module.exports,
		(/** @type {string} */ name) => (name === 'crypto' ? fakeCrypto : require(name)),
	);
	return module.exports.matchedKey;
}

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * How much longer a refusal takes when the first wrong byte is the last one than when it is the first one: the ratio of
 * the medians of many interleaved samples. 1: it tells nothing.
 * @param {ReturnType<typeof loadMatchedKey>} matchedKey
 */
function timeRatio(matchedKey) {
	const wrongFirst = `b${expected.slice(1)}`;
	const wrongLast = `${expected.slice(0, -1)}b`;
	/** @param {string} signature */
	const nanoseconds = (signature) => {
		const start = process.hrtime.bigint();
		const matched = matchedKey(signature, 'task', '1763640000', { current: 'a', previous: 'b' });
		const end = process.hrtime.bigint();
		if (matched) throw new Error('A wrong signature matched');
		return Number(end - start);
	};
	/** @type {Record<'first' | 'last', number[]>} */
	const samples = { first: [], last: [] };
	for (let round = 0; round < 600; round++) {
		samples.first.push(nanoseconds(wrongFirst));
		samples.last.push(nanoseconds(wrongLast));
	}
	return median(samples.last) / median(samples.first);
}

module.exports = { loadMatchedKey, timeRatio };
