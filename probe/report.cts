import type { Row } from './questions.cts';
import type { Clues } from './service.cts';

/** What each part of the package relies on, by the beginnings of what was asked. */
const PARTS: Record<string, string[]> = {
	'Credential test': ['Credits'],
	'Start Without Waiting': ['Create Task'],
	Generate: ['Create Task', 'Task Details', 'Callback'],
	Wait: ['Task Details'],
	Get: ['Task Details'],
	'Get Files': ['Task Details', 'Download URL'],
	'Model: Get Many': ['Models'],
	'Model: Get Fields': ['Model Schema'],
	'File: Upload': ['Stream Upload', 'URL Upload'],
	'Account: Get Credits': ['Credits'],
	Trigger: ['Callback', 'Task Details'],
};

/** Says how far a part was seen to work. */
function judge(rows: Row[], asked: string[]): string {
	const own = asked.map((beginning) => rows.filter((row) => row.asked.startsWith(beginning)));
	if (own.some(({ length }) => !length)) return 'not tried, or in part';
	const verdicts = own.flat().map(({ verdict }) => verdict);
	if (verdicts.includes('different')) return 'differs';
	return verdicts.includes('absent') ? 'the service lacks an endpoint' : 'works';
}

/** Says which dialect a service speaks: one, or where it speaks which. */
function nameDialect(clues: Clues): string {
	const [dialect = 'unknown', ...others] = new Set(Object.values(clues));
	const shown = Object.entries(clues).map(([where, one]) => `${one} in ${where}`);
	return others.length ? `a mixture: ${shown.join(', ')}` : dialect;
}

const toTable = (head: string[], lines: string[][]) =>
	[head, head.map(() => '---'), ...lines]
		.map((cells) => cells.map((text) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|')))
		.map((cells) => `| ${cells.join(' | ')} |`)
		.join('\n');

/** Writes what came as a page that a release can keep. @param tested what, and with which service */
export function formatReport(rows: Row[], clues: Clues, tested: string): string {
	const parts = Object.entries(PARTS).map(([part, asked]) => [part, judge(rows, asked)]);
	const answers = rows.map(({ asked, verdict, came }) => [asked, verdict, came]);
	const differences = rows
		.filter(({ verdict }) => verdict !== 'same')
		.map(({ asked, needed, came }) => `- **${asked}**: ${came}\n  The package needs ${needed}.`);
	return `# Tested with a service

${tested}, on ${new Date().toISOString().slice(0, 10)}, by \`npm run probe\`.

Dialect: ${nameDialect(clues)}

${toTable(['Part', 'Result'], parts)}

## What was asked

${toTable(['Asked', 'Result', 'What came'], answers)}

## What is not as expected

${differences.join('\n') || 'Nothing.'}
`;
}
