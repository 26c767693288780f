/**
 * `same`: as the package expects. `different`: something that the package relies on differs. `ignored`: a value of another form that
 * the package leaves out. `absent`: an endpoint that the service need not have. `not tried`: it takes another option.
 */
export type Verdict = 'same' | 'different' | 'ignored' | 'absent' | 'not tried';

export interface Row {
	/** The endpoint and what it was asked. */
	asked: string;
	/** What the package expects. */
	expected: string;
	came: string;
	verdict: Verdict;
	/** What a difference means for the user. */
	consequence: string;
}

const WIDTHS = { asked: 24, expected: 34, came: 40, verdict: 9, consequence: 40 };
const TITLES = {
	asked: 'Asked',
	expected: 'The package expects',
	came: 'What came',
	verdict: 'Verdict',
	consequence: 'What a difference means',
};
const COLUMNS = Object.keys(WIDTHS) as Array<keyof Row>;

/** Breaks a text into lines of this width, at spaces where there are any. */
function wrap(text: string, width: number): string[] {
	const lines = [''];
	for (const word of text
		.split(/\s+/)
		.flatMap((long) => long.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [])) {
		const line = lines[lines.length - 1] ?? '';
		if (line && line.length + 1 + word.length > width) lines.push(word);
		else lines[lines.length - 1] = line ? `${line} ${word}` : word;
	}
	return lines;
}

/** Writes rows as a table. A consequence is said where there is a difference. */
export function formatTable(rows: Row[]): string {
	const border = COLUMNS.map((column) => '-'.repeat(WIDTHS[column])).join('-+-');
	const format = (row: Record<keyof Row, string>) => {
		const cells = COLUMNS.map((column) => wrap(row[column], WIDTHS[column]));
		const height = Math.max(...cells.map(({ length }) => length));
		return Array.from({ length: height }, (_, index) =>
			COLUMNS.map((column, at) => (cells[at]?.[index] ?? '').padEnd(WIDTHS[column]))
				.join(' | ')
				.trimEnd(),
		).join('\n');
	};
	const shown = rows.map((row) => ({
		...row,
		consequence: row.verdict === 'same' ? '' : row.consequence,
	}));
	return [format(TITLES), ...shown.map(format)].join(`\n${border}\n`);
}
