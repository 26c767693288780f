import { getCredits } from './getCredits';
import { upload } from './upload';
import { getFields } from './getFields';
import { getMany } from './getMany';
import type { Operation } from './operation';
import { start } from './start';
import { generateOperation } from './generate';
import { getFiles } from './getFiles';
import { get } from './get';
import { waitOperation } from './wait';

/** The operations of a resource are sorted by name, as n8n requires of long lists. */
export const operations: Operation[] = [
	getCredits,
	upload,
	getFields,
	getMany,
	generateOperation,
	get,
	getFiles,
	start,
	waitOperation,
];
