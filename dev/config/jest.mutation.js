const { projects } = require('../../jest.config.js');

/** @param {string} name */
const suite = (name) => projects.find(({ displayName }) => displayName === name);
const engine = suite('engine');

/**
 * The unit and engine suites for `npm run test:mutation`, as the one project that Stryker can watch. The engine suite
 * loads the sources here, which are mutated, and not the build.
 * @type {import('jest').Config}
 */
module.exports = {
	...suite('unit'),
	rootDir: '../..',
	displayName: undefined,
	testMatch: [...suite('unit').testMatch, ...engine.testMatch],
	// The worked examples run a copy of the sources that holds no mutant, links are in the docs, and fuzzing takes seconds a mutant.
	testPathIgnorePatterns: ['/node_modules/', 'contributing', 'links', 'fuzz'],
	setupFilesAfterEnv: [...engine.setupFilesAfterEnv, '<rootDir>/test/mutation.cts'],
	testTimeout: 30_000,
};
