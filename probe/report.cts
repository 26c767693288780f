import type { Row } from './questions.cts';
import type { Clues } from './service.cts';

/** Says which dialect a service speaks: one, or where it speaks which. */
function nameDialect(clues: Clues): string {
	const [dialect = 'unknown', ...others] = new Set(Object.values(clues));
	const shown = Object.entries(clues).map(([where, one]) => `${one} in ${where}`);
	return others.length ? `a mixture: ${shown.join(', ')}` : dialect;
}

const toCell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

/** Writes what came as a page that a release can keep. @param tested what, and with which service */
export function formatReport(rows: Row[], clues: Clues, tested: string): string {
	const lines = rows.map(({ asked, verdict, came, needed }) =>
		[asked, verdict, came, verdict === 'same' ? '' : needed].map(toCell).join(' | '),
	);
	return `# Tested with a service

${tested}, on ${new Date().toISOString().slice(0, 10)}, by \`npm run probe\`.

Dialect: ${nameDialect(clues)}

| Asked | Result | What came | What the package needs |
| --- | --- | --- | --- |
${lines.map((line) => `| ${line} |`).join('\n')}
`;
}
