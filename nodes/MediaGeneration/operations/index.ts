import { getCredits } from './account/getCredits';
import { upload } from './file/upload';
import type { Operation } from './operation';
import { create } from './task/create';
import { createAndWait } from './task/createAndWait';
import { download } from './task/download';
import { get } from './task/get';
import { verifyCallback } from './task/verifyCallback';

/** The operations of a resource are sorted by name, as n8n requires for a list of five. */
export const operations: Operation[] = [
	getCredits,
	upload,
	createAndWait,
	get,
	download,
	create,
	verifyCallback,
];
