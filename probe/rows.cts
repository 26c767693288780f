import { UserError } from 'n8n-workflow';
import { isNotFound, ServiceError } from '../nodes/MediaGeneration/api/failure.ts';

export interface Row {
	asked: string;
	/** What the package needs of the answer. */
	needed: string;
	came: string;
	/**
	 * `same`: as the package expects. `different`: something that it relies on differs. `absent`: an endpoint that the service need
	 * not have. `not tried`: it takes another option.
	 */
	verdict: 'same' | 'different' | 'absent' | 'not tried';
}

/** Something that the package relies on came otherwise. */
export class Difference extends Error {
	constructor(
		message: string,
		readonly verdict: Row['verdict'] = 'different',
	) {
		super(message);
	}
}

/** Asks a question, and adds what came. `ask` returns it, or throws a {@link Difference}. */
export type Add = (asked: string, needed: string, ask: () => Promise<string>) => Promise<void>;

export function createRows() {
	const rows: Row[] = [];
	const add: Add = async (asked, needed, ask) => {
		const row = { asked, needed, verdict: 'same' as const };
		try {
			rows.push({ ...row, came: await ask() });
		} catch (error) {
			if (!(error instanceof Difference || error instanceof UserError)) throw error;
			const verdict = error instanceof Difference ? error.verdict : 'different';
			rows.push({ ...row, came: error.message, verdict });
		}
	};
	return { rows, add };
}

/** Expects a refusal in the service's own envelope. */
export async function expectRefusal(
	isExpected: (error: ServiceError) => boolean,
	request: Promise<unknown>,
) {
	const came = await request.catch((error: unknown) => error);
	if (!(came instanceof ServiceError)) throw new Difference(`a success: ${JSON.stringify(came)}`);
	if (came.answeredBy !== 'service' || !isExpected(came)) throw new Difference(came.message);
	return came.message;
}

/** An endpoint that the package works without is absent where it is answered with 404. */
export async function expectUnlessAbsent<Answer>(request: Promise<Answer>) {
	return await request.catch((error: unknown) => {
		const isAbsent = isNotFound(error);
		throw isAbsent ? new Difference(error.message, 'absent') : error;
	});
}

/** Writes a line for each thing that was asked, and below what is not as expected what the package needs. */
export const formatRows = (rows: Row[]): string =>
	rows
		.map(({ asked, needed, came, verdict }) => {
			const line = `${verdict.padEnd(9)}  ${asked}: ${came}`;
			return verdict === 'same' ? line : `${line}\n             needed: ${needed}`;
		})
		.join('\n');
