import { nameDialect, type Clues } from './dialect.cts';
import type { Row } from './rows.cts';

/** What each part of the package relies on, by the beginnings of what was asked. */
const PARTS: Record<string, string[]> = {
	'Credential test': ['Credits'],
	'Start Without Waiting': ['Create Task'],
	Generate: ['Create Task', 'Task Details', 'Callback'],
	Wait: ['Task Details'],
	Get: ['Task Details'],
	'Get Files': ['Task Details', 'Download URL'],
	'Verify Callback': ['Callback'],
	'Model: Get Many': ['Models'],
	'Model: Get Fields': ['Model Schema'],
	'File: Upload': ['Stream Upload', 'URL Upload'],
	'Account: Get Credits': ['Credits'],
	Trigger: ['Callback', 'Task Details'],
};

export interface Probed {
	rows: Row[];
	clues: Clues;
	/** The service's host. */
	host: string;
	/** The package, with its version. */
	tested: string;
	date: Date;
	/** They are nowhere in the report. */
	secrets: string[];
}

/** Says how far a part was seen to work. */
function judge(rows: Row[]): string {
	const verdicts = rows.map(({ verdict }) => verdict);
	if (verdicts.includes('different')) return 'differs';
	if (verdicts.length === 0 || verdicts.includes('not tried')) return 'not tried, or in part';
	return verdicts.includes('absent') ? 'the service lacks an endpoint' : 'works';
}

const toCell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

const toTable = (head: string[], lines: string[][]) =>
	[head, head.map(() => '---'), ...lines]
		.map((cells) => `| ${cells.map(toCell).join(' | ')} |`)
		.join('\n');

/** Writes what a service answered as a page that a release can keep. */
export function formatReport({ rows, clues, host, tested, date, secrets }: Probed): string {
	const parts = Object.entries(PARTS).map(([part, asked]) => {
		const own = rows.filter((row) => asked.some((beginning) => row.asked.startsWith(beginning)));
		const isWhole = asked.every((beginning) => own.some((row) => row.asked.startsWith(beginning)));
		return [part, isWhole ? judge(own) : judge([])];
	});
	const different = rows.filter(({ verdict }) => verdict !== 'same');
	const page = `# Tested with a service

${tested} with ${host}, on ${date.toISOString().slice(0, 10)}, by \`npm run probe\`.

Dialect: ${nameDialect(clues)}

${toTable(['Part', 'Result'], parts)}

## What was asked

${toTable(
	['Asked', 'Result', 'What came'],
	rows.map(({ asked, verdict, came }) => [asked, verdict, came]),
)}

## What is not as expected

${different.map(({ asked, needed, came }) => `- **${asked}**: ${came}. The package needs ${needed}.`).join('\n') || 'Nothing.'}
`;
	return secrets
		.filter(Boolean)
		.reduce((text, secret) => text.replaceAll(secret, '(hidden)'), page);
}
