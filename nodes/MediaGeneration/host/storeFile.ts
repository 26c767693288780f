import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

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
