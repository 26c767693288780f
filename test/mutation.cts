import fc from 'fast-check';
import { readdirSync } from 'node:fs';
import path from 'node:path';

// A mutant is found by the first example that fails, and often by a few: neither a smaller one nor all are worth the time.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 300 });

// Stryker takes what runs while a module is loaded for covered by the test that loads it. So all are loaded before the first test,
// but after the test's own mocks.
const sources = path.join(__dirname, '..', 'nodes');
beforeAll(() => {
	for (const file of readdirSync(sources, { recursive: true, encoding: 'utf8' }))
		if (file.endsWith('.ts')) jest.requireActual(path.join(sources, file));
});
