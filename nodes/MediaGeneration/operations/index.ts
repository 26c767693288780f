import { getCreditsOperation } from './getCredits';
import { uploadOperation } from './upload';
import { getFieldsOperation } from './getFields';
import { getManyOperation } from './getMany';
import type { Operation } from './operation';
import { startOperation } from './start';
import { generateOperation } from './generate';
import { getFilesOperation } from './getFiles';
import { getOperation } from './get';
import { waitOperation } from './wait';

/** The operations of a resource are sorted by name, as n8n requires of long lists. */
export const operations: Operation[] = [
	getCreditsOperation,
	uploadOperation,
	getFieldsOperation,
	getManyOperation,
	generateOperation,
	getOperation,
	getFilesOperation,
	startOperation,
	waitOperation,
];
