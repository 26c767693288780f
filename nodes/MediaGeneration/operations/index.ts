import { getCredits } from './account/getCredits';
import { upload } from './file/upload';
import { getFields } from './model/getFields';
import { getMany } from './model/getMany';
import type { Operation } from './operation';
import { start } from './task/start';
import { generate } from './task/generate';
import { getFiles } from './task/getFiles';
import { get } from './task/get';
import { verifyCallback } from './task/verifyCallback';
import { wait } from './task/wait';

/** The operations of a resource are sorted by name, as n8n requires of long lists. */
export const operations: Operation[] = [
	getCredits,
	upload,
	getFields,
	getMany,
	generate,
	get,
	getFiles,
	start,
	verifyCallback,
	wait,
];
