const typescript = {
	'\\.c?ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }],
};

/** @type {(name: string, testMatch: string[], more?: object) => object} */
const defineSuite = (name, testMatch, more) => ({
	displayName: name,
	testMatch: testMatch.map((glob) => `<rootDir>/${glob}`),
	testEnvironment: 'node',
	moduleFileExtensions: ['js', 'cjs', 'mjs', 'ts', 'cts', 'json', 'node'],
	transform: typescript,
	...more,
});

/** The tests that run with zod 3 and zod 4: n8n provides zod, and will move to version 4 one day. */
const READS_BY_ZOD = ['catalogue', 'client', 'schemas', 'task'].map(
	(name) => `test/unit/api/${name}.test.ts`,
);

const realN8n = {
	globalSetup: '<rootDir>/test/e2e/setup.cts',
	globalTeardown: '<rootDir>/test/e2e/teardown.cts',
};

/** @type {import('jest').Config} */
module.exports = {
	projects: [
		// The sources, without n8n.
		defineSuite('unit', ['test/@(unit|world)/**/*.test.@(ts|cts)']),
		// A part of `unit`, with the next zod.
		defineSuite('zod4', READS_BY_ZOD, { moduleNameMapper: { '^zod$': 'zod4' } }),
		// The emulator, held to the contract.
		defineSuite('service', ['test/service/**/*.test.cts']),
		// The built package in n8n-core.
		defineSuite('engine', ['test/engine/**/*.test.@(ts|cts)'], {
			// The tests take types from the sources, and run the build.
			moduleNameMapper: { '^(?:\\.\\./)+(nodes|credentials)/(.*)$': '<rootDir>/dist/$1/$2' },
			setupFilesAfterEnv: ['<rootDir>/test/engine/setup.cts'],
		}),
		// The packed package in a real n8n.
		defineSuite('e2e', ['test/e2e/!(editor*).test.cts'], realN8n),
		// The packed package in n8n's editor, as a person uses it: a suite apart, so that it can run alone.
		defineSuite('editor', ['test/e2e/editor*.test.cts'], realN8n),
		// The packed package in n8n's queue mode.
		defineSuite('queue', ['test/queue/**/*.test.cts'], realN8n),
	],
	// Longer than `PATIENCE`, so that a wait in vain ends with its own message.
	testTimeout: 300_000,
	// By default Jest leaves one core idle, which is half of two.
	maxWorkers: '100%',
};
