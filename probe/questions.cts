import { ERROR_HELP } from '../nodes/MediaGeneration/api/errorHelp.ts';
import { ServiceError } from '../nodes/MediaGeneration/api/errors.ts';
import { envelope } from '../nodes/MediaGeneration/api/schemas.ts';
import { isObject } from '../nodes/MediaGeneration/lib/json.ts';
import type { Client } from './client.cts';
import type { Case, Recording } from './recording.cts';
import type { Row, Verdict } from './report.cts';

export const SETTINGS = { timeoutSeconds: 60 };

/** Something that the package relies on came otherwise. */
export class Difference extends Error {
	constructor(
		message: string,
		readonly verdict: Verdict = 'different',
	) {
		super(message);
	}
}

export interface Question {
	asked: string;
	expected: string;
	consequence: string;
	/** The answer is recorded under this name, with what it is about. */
	record?: Case;
	request?: object;
	/**
	 * Asks the service, and returns what came.
	 * @throws {Difference} when it is not what the package expects
	 */
	ask: () => Promise<string>;
}

const getData = (body: unknown) => (isObject(body) ? body.data : undefined);

/** Tells of an answer what the package can't make use of, whatever was asked. */
function inspect({ last }: Client, asked: string): Row[] {
	const parsed = envelope.safeParse(last?.body).data;
	if (!last || !parsed) return [];
	const { code, msg, message } = parsed;
	const isRefusal = code !== 200;
	const rows: Array<Omit<Row, 'asked' | 'verdict'> & { isSo: boolean }> = [
		{
			isSo: isRefusal && !(code in ERROR_HELP),
			expected: `one of the codes ${Object.keys(ERROR_HELP).join(', ')}`,
			came: `code ${code}`,
			consequence:
				'The error says no more than that the service refused the request. A creation refused like this counts as one of unknown outcome, and is not repeated.',
		},
		{
			isSo: isRefusal && !msg && !message,
			expected: 'the reason of a refusal in msg or message',
			came: `neither: ${Object.keys(last.body as object).join(', ')}`,
			consequence: 'Errors do not say what the service has to object.',
		},
	];
	return rows
		.filter(({ isSo }) => isSo)
		.map(({ expected, came, consequence }) => ({
			asked,
			expected,
			came,
			verdict: 'different' as const,
			consequence,
		}));
}

/** Asks a question, and tells what came. */
export async function ask(
	client: Client,
	{ record, request, ask: send, ...question }: Question,
	recording: Recording,
): Promise<Row[]> {
	client.last = undefined;
	const row = async (): Promise<Row> => {
		try {
			return { ...question, came: await send(), verdict: 'same' };
		} catch (error) {
			if (error instanceof Difference)
				return { ...question, came: error.message, verdict: error.verdict };
			if (error instanceof ServiceError)
				return { ...question, came: error.message, verdict: 'different' };
			throw error;
		}
	};
	const answer = await row();
	const { last } = client;
	if (record && last) recording.add(record, last, request);
	return [answer, ...inspect(client, question.asked)];
}

/** Expects a refusal with one of these codes, in the service's own envelope. */
export async function expectRefusal(codes: number[], request: () => Promise<unknown>) {
	let came: unknown;
	try {
		came = await request();
	} catch (error) {
		if (!(error instanceof ServiceError)) throw error;
		const { code, message, answeredBy } = error;
		if (answeredBy === 'service' && code !== undefined && codes.includes(code)) return message;
		throw new Difference(message);
	}
	throw new Difference(`a success: ${JSON.stringify(came)}`);
}

/** An endpoint that the package works without is absent where it is answered with 404. */
export async function expectUnlessAbsent(request: () => Promise<string>) {
	try {
		return await request();
	} catch (error) {
		if (error instanceof ServiceError && error.code === 404)
			throw new Difference(error.message, 'absent');
		throw error;
	}
}

/** Lists the values of an answer that the package leaves out, as they have another form than it reads. */
export const listIgnored = (sent: unknown, read: object): string[] =>
	isObject(sent)
		? Object.entries(read)
				.filter(([key, value]) => value === undefined && sent[key] !== null && sent[key] !== '')
				.map(([key]) => `${key}: ${JSON.stringify(sent[key])}`.slice(0, 80))
				.filter((text) => !text.endsWith(': undefined'))
		: [];

/** Makes the row of values that were left out, if there are any. */
export const toIgnoredRows = (asked: string, ignored: string[]): Row[] =>
	ignored.length
		? [
				{
					asked,
					expected: 'values of the forms in api/schemas.ts and api/task.ts',
					came: ignored.join('; '),
					verdict: 'ignored',
					consequence: 'These fields are left out of what the user sees.',
				},
			]
		: [];

export const readData = ({ last }: Client): unknown => getData(last?.body);
