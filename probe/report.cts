import type { Row } from './questions.cts';

const toCell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

/** Writes what came as a page that a release can keep. @param tested what, and with which service */
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
