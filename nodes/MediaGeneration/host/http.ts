import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

/**
 * A body that n8n's HTTP helper streams, so that no file is in memory as a whole. It hands a Blob
 * to axios, which reads `type`, `size` and `stream()` (2.14.2, 2.41.1). `engine/files` fails first.
 */
export class BlobBody extends Blob {
	/** n8n drops an object without own keys. @param length in bytes, exact: it is sent first */
	constructor(
		private readonly contentType: string,
		private readonly length: number,
		private readonly chunks: AsyncIterable<Uint8Array>,
	) {
		super();
	}

	override get type(): string {
		return this.contentType;
	}

	override get size(): number {
		return this.length;
	}

	/** axios only iterates over them. */
	override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
		return this.chunks as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
	}
}

/**
 * Gives n8n's HTTP helper another abort signal. With its own, a stop aborts a creation, whose task
 * ID would be lost. The helper reads `this.getExecutionCancelSignal()` (`authentication.js`,
 * 2.41.1), so the context inherits all but that. `e2e/stopAndTimeout` fails first, where it stops
 * executions.
 */
export const withSignal = <Context extends object>(
	context: Context,
	signal: AbortSignal,
): Context =>
	Object.create(context, { getExecutionCancelSignal: { value: () => signal } }) as Context;

type PrepareBinaryData = IExecuteFunctions['helpers']['prepareBinaryData'];

/**
 * Stores a file in n8n. Without a type, n8n knows it by its name, and takes what it doesn't know
 * for text (`binary-helper-functions.js`, 2.14.2, 2.41.1). `engine/answers` fails first.
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
