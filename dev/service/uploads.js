const { createHash, randomUUID } = require('node:crypto');
const { createWriteStream } = require('node:fs');
const { rm } = require('node:fs/promises');
const { join } = require('node:path');
const { pipeline } = require('node:stream/promises');

/**
 * @typedef {object} Upload
 * @property {string} fileName
 * @property {string} filePath the upload path and the file name
 * @property {string} mimeType
 * @property {number} size in bytes
 * @property {string} sha256 in hex
 * @property {Buffer} [bytes] kept only when under 5 MB
 * @property {string} downloadUrl
 * @property {string} storedAt where the bytes are on disk
 */
/** @typedef {Pick<Upload, 'size' | 'sha256' | 'bytes' | 'storedAt'>} Received */

const KEPT_IN_MEMORY = 5 * 1024 * 1024;

/**
 * The uploaded files, on disk.
 *
 * @param {{ directory: string, resultsUrl: () => string }} service
 */
function createUploads({ directory, resultsUrl }) {
	/** @type {Map<string, Upload>} */
	const files = new Map();

	/** @param {Received} received */
	const discard = ({ storedAt }) => rm(storedAt, { force: true });

	return {
		files,
		discard,

		/**
		 * Takes a file in without holding it in memory.
		 *
		 * @param {import('node:stream').Readable} source
		 * @returns {Promise<Received>}
		 * @throws {Error} when the source breaks off; nothing is left on disk then
		 */
		async receive(source) {
			const storedAt = join(directory, randomUUID());
			const hash = createHash('sha256');
			let size = 0;
			/** @type {Uint8Array[]} */
			let chunks = [];
			/** @param {AsyncIterable<Uint8Array>} stream */
			async function* measure(stream) {
				for await (const chunk of stream) {
					hash.update(chunk);
					size += chunk.length;
					if (size < KEPT_IN_MEMORY) chunks.push(chunk);
					else chunks = [];
					yield chunk;
				}
			}
			try {
				await pipeline(source, measure, createWriteStream(storedAt));
			} catch (error) {
				await rm(storedAt, { force: true });
				throw error;
			}
			const bytes = size < KEPT_IN_MEMORY ? { bytes: Buffer.concat(chunks) } : {};
			return { size, sha256: hash.digest('hex'), storedAt, ...bytes };
		},

		/**
		 * Keeps a file under its name; one of the same name is overwritten.
		 *
		 * @param {Received} received
		 * @param {{ fileName: string, uploadPath: string, mimeType: string }} as
		 * @returns {Promise<Upload>}
		 */
		async keep(received, { fileName, uploadPath, mimeType }) {
			const former = files.get(fileName);
			const filePath = `${uploadPath.replace(/^\/+|\/+$/g, '')}/${fileName}`;
			const urlPath = filePath.split('/').map(encodeURIComponent).join('/');
			const downloadUrl = `${resultsUrl()}/uploads/${urlPath}`;
			const upload = { fileName, filePath, mimeType, downloadUrl, ...received };
			files.set(fileName, upload);
			if (former) await discard(former);
			return upload;
		},
	};
}

module.exports = { createUploads };
