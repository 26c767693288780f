import fs from 'node:fs';
import path from 'node:path';
import type { FormattedTestResults } from '@jest/test-result';
import { version } from '../package.json';
import { root } from './pack.cts';

/** Prints what an issue about failed tests needs, in Markdown: the versions, and each failed test with the beginning of its message. */
const [file = '', tag = ''] = process.argv.slice(2);
const pinned = fs.readFileSync(path.join(root, 'dev', 'n8n', tag, 'package.json'), 'utf8');
const { dependencies } = JSON.parse(pinned) as { dependencies: { n8n: string } };
console.log(`## The end-to-end tests failed on n8n ${dependencies.n8n} (${tag})\n`);
console.log(`Versions: n8n ${dependencies.n8n}, n8n-nodes-media-generation ${version}\n`);
const report = fs.existsSync(file)
	? (JSON.parse(fs.readFileSync(file, 'utf8')) as FormattedTestResults)
	: undefined;
if (!report) console.log('No test ran: n8n could not be installed, or did not start.');
for (const { name, message, assertionResults, status } of report?.testResults ?? []) {
	const failed = assertionResults.filter((one) => one.status === 'failed');
	if (status === 'failed') console.log(`### ${path.relative(root, name)}\n`);
	for (const { fullName, failureMessages } of failed)
		console.log(`- ${fullName}\n\n~~~\n${failureMessages?.join('\n').slice(0, 1500)}\n~~~\n`);
	if (status === 'failed' && failed.length === 0)
		console.log(`~~~\n${message.slice(0, 1500)}\n~~~\n`);
}
