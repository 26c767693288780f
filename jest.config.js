/** The suites: `unit` is pure, `zod4` a part of it with the next zod, `service` holds the emulator to the contract, `engine` runs the built package in n8n-core, `e2e` the packed one in a real n8n, `editor` its part that uses the editor by hand, which runs alone, `queue` in n8n's queue mode. */
const typescript = {
	'\\.c?ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }],
};

/** @type {(name: string, testMatch: string[], more?: object) => object} */
const suite = (name, testMatch, more) => ({
	displayName: name,
	testMatch: testMatch.map((glob) => `<rootDir>/${glob}`),
	testEnvironment: 'node',
	moduleFileExtensions: ['js', 'cjs', 'mjs', 'ts', 'cts', 'json', 'node'],
	transform: typescript,
	...more,
});

/** zod is n8n's own, and will be version 4 one day: these tests run with each. */
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
		suite('unit', ['test/@(unit|world)/**/*.test.@(ts|cts)']),
		suite('zod4', READS_BY_ZOD, { moduleNameMapper: { '^zod$': 'zod4' } }),
		suite('service', ['test/service/**/*.test.cts']),
		suite('engine', ['test/engine/**/*.test.@(ts|cts)'], {
			// Types are those of the sources, what runs is the build.
			moduleNameMapper: { '^(?:\\.\\./)+(nodes|credentials)/(.*)$': '<rootDir>/dist/$1/$2' },
			setupFilesAfterEnv: ['<rootDir>/test/engine/setup.cts'],
		}),
		suite('e2e', ['test/e2e/!(editor*).test.cts'], realN8n),
		suite('editor', ['test/e2e/editor*.test.cts'], realN8n),
		suite('queue', ['test/queue/**/*.test.cts'], realN8n),
	],
	// More than `PATIENCE`, so that a wait in vain is named.
	testTimeout: 300_000,
	// By default one core is left idle, of two that is half.
	maxWorkers: '100%',
};
