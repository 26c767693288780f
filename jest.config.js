/** The suites: `unit` is pure, `service` holds the emulator to the contract, `engine` runs the built package in n8n-core, `e2e` the packed one in a real n8n, `queue` in n8n's queue mode. */
const typescript = {
	'\\.c?ts$': ['ts-jest', { tsconfig: 'tsconfig.dev.json', diagnostics: false }],
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

const packed = {
	globalSetup: '<rootDir>/test/e2e/setup.cts',
	globalTeardown: '<rootDir>/test/e2e/teardown.cts',
};

/** @type {import('jest').Config} */
module.exports = {
	projects: [
		suite('unit', ['test/unit/**/*.test.@(ts|cts)']),
		suite('service', ['test/service/**/*.test.cts']),
		suite('engine', ['test/engine/**/*.test.ts'], {
			// Types are those of the sources, what runs is the build.
			moduleNameMapper: { '^(?:\\.\\./)+(nodes|credentials)/(.*)$': '<rootDir>/dist/$1/$2' },
			setupFilesAfterEnv: ['<rootDir>/test/engine/setup.cts'],
		}),
		suite('e2e', ['test/e2e/**/*.test.cts'], packed),
		suite('queue', ['test/queue/**/*.test.cts'], packed),
	],
	testTimeout: 120_000,
	// By default one core is left idle, of two that is half.
	maxWorkers: '100%',
};
