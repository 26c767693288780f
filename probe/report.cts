import type { Row } from './questions.cts';

const toCell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

/** Writes a page of what came, for a release. @param tested the package and the service */
export function formatReport(rows: Row[], tested: string): string {
	const lines = rows.map(({ asked, verdict, came, needed }) =>
		[asked, verdict, came, verdict === 'same' ? '' : needed].map(toCell).join(' | '),
	);
	return `# Tested with a service

${tested}, on ${new Date().toISOString().slice(0, 10)}, by \`npm run probe\`.

| Asked | Result | What came | What the package needs |
| --- | --- | --- | --- |
${lines.map((line) => `| ${line} |`).join('\n')}
`;
}
