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

/** Writes a row for each thing that was asked. What is as expected takes one line, a difference also says what it means. */
export const formatRows = (rows: Row[]): string =>
	rows
		.map(({ asked, expected, came, verdict, consequence }) => {
			const lines = [`${verdict.padEnd(9)}  ${asked}: ${came}`];
			if (verdict !== 'same') lines.push(`expected: ${expected}`, `meaning: ${consequence}`);
			return lines.join('\n             ');
		})
		.join('\n');
