import { ServiceError } from '../nodes/MediaGeneration/api/errors.ts';

/**
 * `same`: as the package expects. `different`: something that the package relies on differs. `absent`: an endpoint that the service
 * need not have. `not tried`: it takes another option.
 */
type Verdict = 'same' | 'different' | 'absent' | 'not tried';

interface Expectation {
	/** The endpoint and what it was asked. */
	asked: string;
	/** What the package expects. */
	expected: string;
	/** What a difference means for the user. */
	consequence: string;
}

export interface Row extends Expectation {
	came: string;
	verdict: Verdict;
}

export interface Question extends Expectation {
	/**
	 * Asks the service, and returns what came.
	 * @throws {Difference} when it is not what the package expects
	 */
	ask: () => Promise<string>;
}

/** Something that the package relies on came otherwise. */
export class Difference extends Error {
	constructor(
		message: string,
		readonly verdict: Verdict = 'different',
	) {
		super(message);
	}
}

/** Asks a question, and tells what came. */
export async function askFor({ ask, ...expectation }: Question): Promise<Row> {
	try {
		return { ...expectation, came: await ask(), verdict: 'same' };
	} catch (error) {
		if (!(error instanceof Difference || error instanceof ServiceError)) throw error;
		const verdict = error instanceof Difference ? error.verdict : 'different';
		return { ...expectation, came: error.message, verdict };
	}
}

/** Expects a refusal with one of these codes, in the service's own envelope. */
export async function expectRefusal(codes: number[], request: () => Promise<unknown>) {
	const came = await request().catch((error: unknown) => {
		if (error instanceof ServiceError) return error;
		throw error;
	});
	if (!(came instanceof ServiceError)) throw new Difference(`a success: ${JSON.stringify(came)}`);
	const { code, message, answeredBy } = came;
	if (answeredBy !== 'service' || !code || !codes.includes(code)) throw new Difference(message);
	return message;
}

/** An endpoint that the package works without is absent where it is answered with 404. */
export async function expectUnlessAbsent(request: () => Promise<string>) {
	return await request().catch((error: unknown) => {
		if (error instanceof ServiceError && error.code === 404)
			throw new Difference(error.message, 'absent');
		throw error;
	});
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
