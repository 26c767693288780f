import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

/**
 * Builds a body that n8n's HTTP helper streams, so that no file is in memory as a whole. n8n drops an
 * object without enumerable keys, and hands a Blob to axios, which reads `type` and `size`, and
 * iterates over what `stream()` returns (2.14.2, 2.41.1). `engine/files` fails first.
 * @param size in bytes, exact: it is sent first
 */
export const buildStreamedBody = (
	type: string,
	size: number,
	chunks: AsyncIterable<Uint8Array>,
): Blob =>
	Object.defineProperties(new Blob(), {
		type: { value: type, enumerable: true },
		size: { value: size },
		stream: { value: () => chunks },
	});

/**
 * Gives n8n's HTTP helper another abort signal. With the execution's own signal, a stop would abort a
 * creation, whose task ID would be lost. The helper reads `this.getExecutionCancelSignal()`
 * (`authentication.js`, 2.41.1), so the context inherits all but this function. `e2e/stopAndTimeout`
 * fails first, where it stops executions.
 */
export const withSignal = <Context extends object>(
	context: Context,
	signal: AbortSignal,
): Context =>
	Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as Context;

type PrepareBinaryData = IExecuteFunctions['helpers']['prepareBinaryData'];

/**
 * Stores a file in n8n. Without a type, n8n takes the type of the name's ending, and text for an ending
 * that it doesn't know (`binary-helper-functions.js`, 2.14.2, 2.41.1). `engine/answers` fails first.
 */
export async function storeFile(
	helpers: { prepareBinaryData: PrepareBinaryData },
	stream: Parameters<PrepareBinaryData>[0],
	name: string,
	mimeType?: string,
): Promise<IBinaryData> {
	const binary = await helpers.prepareBinaryData(stream, name, mimeType);
	const isGuess = !mimeType && binary.mimeType === 'text/plain' && !name.endsWith('.txt');
	if (!isGuess) return binary;
	return { ...binary, mimeType: 'application/octet-stream', fileType: undefined };
}
