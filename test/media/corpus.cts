const { createReadStream, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const own = ['README.md', 'corpus.cts', 'make.sh'];

/** The media files of this folder. */
const names = readdirSync(__dirname).filter((name) => !own.includes(name));

/** @param {string} name */
const bytesOf = (name) => readFileSync(join(__dirname, name));

/**
 * A file as n8n gives it in filesystem mode.
 *
 * @param {string} name
 * @param {number} [chunkSize] in bytes
 */
const streamOf = (name, chunkSize = 64 * 1024) =>
	createReadStream(join(__dirname, name), { highWaterMark: chunkSize });

/** Bytes that the process holds, in its heap and in buffers. */
const memoryHeld = () => {
	const { heapUsed, arrayBuffers } = process.memoryUsage();
	return heapUsed + arrayBuffers;
};

module.exports = { bytesOf, memoryHeld, names, streamOf };
