import type { IExecuteFunctions } from 'n8n-workflow';
import { checkInput } from '../../models/check';
import { describeFields, type Field } from '../../models/field';
import { InputReader } from '../../models/inputReader';
import { file } from '../../models/commonFields';
import { InputFile } from './inputFile';
import { FilesOfItem } from './itemFiles';

/**
 * Reads a field that takes one file, as those of models do.
 * @returns the item's file, or a link
 * @throws {UserError} if the field has neither
 */
export function readOneFile(
	context: IExecuteFunctions,
	index: number,
	field: Field,
	value: unknown,
): InputFile | string {
	const schema = describeFields([{ ...field, send: { as: 'file', schema: file } }]);
	const values = { file: value };
	const reader = new InputReader(schema, new FilesOfItem(context, index), 'fields');
	const input = reader.read(values);
	checkInput(schema, input, values);
	return input.file instanceof InputFile ? input.file : String(input.file);
}
