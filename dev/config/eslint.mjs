// Lints what runs in Node (`.cts`): the emulator, the driver of n8n, tests and benches. What runs inside n8n (`.ts`) is linted by
// n8n's own rules, in eslint.config.mjs.
import path from 'node:path';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig({
	files: ['**/*.cts'],
	extends: [tseslint.configs.recommendedTypeChecked],
	languageOptions: {
		parserOptions: {
			project: 'tsconfig.dev.json',
			tsconfigRootDir: path.join(import.meta.dirname, '../..'),
		},
	},
	rules: {
		// Fastify recognizes asynchronous hooks and handlers by the promise that they return.
		'@typescript-eslint/require-await': 'off',
	},
});
