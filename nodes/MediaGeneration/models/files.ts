import type { JsonSchema } from './schema';

/** A place of an input that has a file. */
export interface FileUse {
	file: FileToSend;
	/** The place's name in the editor. */
	label: string;
	/** The key in the request. */
	name: string;
	schema: JsonSchema;
}

/** A file of an item that is uploaded before its task is created. Its URL then takes its place. */
export abstract class FileToSend {
	/** The binary field of the item, for errors. */
	abstract readonly field: string;

	/** @throws {UserError} if the file can't be what its place takes */
	abstract check(use: FileUse): Promise<void>;
}

/** What a name stands for in an item. */
export interface NamedFiles {
	/** The file of exactly this name, or of the form's field with this label. */
	exact?: FileToSend;
	/** Files whose names are this one and a number, in their order, without a gap. */
	numbered: FileToSend[];
}

/** The files of one item. */
export interface ItemFiles {
	/** @throws {UserError} for a form's label under whose name n8n has stored another field's file */
	find: (name: string, label: string) => NamedFiles;
	/** Makes a file of a `data:` URI. @throws {UserError} if the URI can't be read */
	fromDataUri: (uri: string, label: string) => FileToSend;
	/** Names the file of this item that n8n's own object of a file stands for. */
	nameOf: (object: Record<string, unknown>) => string | undefined;
	listNames: () => string[];
}

/** Stands for an expression that gives nothing for an item, in place of its value. */
export class Nothing {
	constructor(
		/** With its braces; blank for a tool, whose fields a model fills in. */
		readonly expression: string,
		/** It gives `undefined`, so it asks for what isn't there. `null` and '' are blank on purpose. */
		readonly isLost: boolean,
	) {}
}
