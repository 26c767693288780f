import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Redactor } from '../nodes/MediaGeneration/api/redaction.ts';
import type { Answer } from './client.cts';

/** What was asked, by the names of the files that the answers are written to. */
export type Case =
	| 'credits'
	| 'wrongToken'
	| 'refusedCreation'
	| 'unknownTask'
	| 'streamUpload'
	| 'urlUpload'
	| 'models'
	| 'modelSchema'
	| 'unknownModel'
	| 'downloadUrl'
	| 'create'
	| 'details'
	| 'callback';

/** A catalogue has links in its texts, none of them to files of the account. */
const WITHOUT_FILES = new Set<Case>(['models', 'modelSchema', 'unknownModel']);

const LINK = /https?:\/\/[^\s"'\\<>]+/g;

/** Keeps answers without what is secret or belongs to one account: tokens, keys, task IDs and links. */
export class Recording {
	readonly cases: Partial<Record<Case, unknown>> = {};
	private readonly redactor: Redactor;
	/** What stands for a text in the answers. */
	private readonly placeholders = new Map<string, string>();
	private files = 0;

	constructor(secrets: Array<string | undefined>) {
		this.redactor = new Redactor(secrets);
	}

	/** From here on, a placeholder that the emulator fills in stands for this text. */
	replace(text: string, placeholder: string): void {
		this.placeholders.set(text, placeholder);
	}

	/** @param request what the answer is about, where the emulator has to know it */
	add(name: Case, { body, ...answer }: Answer, request?: object): void {
		this.cases[name] = this.clean(name, { ...answer, ...(request && { request }), body });
	}

	/** Adds the details of a task in one of its states. */
	addDetails({ body, ...answer }: Answer): void {
		this.cases.details = [
			...((this.cases.details as unknown[] | undefined) ?? []),
			this.clean('details', { ...answer, body }),
		];
	}

	addCallback(contentType: string | undefined, body: unknown): void {
		// A numeric ID with many digits has been rounded by now, so it is not among the texts.
		const text = JSON.stringify(body).replace(/("task_?id":)\d+/gi, '$1"{taskId}"');
		this.cases.callback = this.clean('callback', {
			contentType,
			body: JSON.parse(text) as unknown,
		});
	}

	/** Writes a file for each case into a folder, which loses those of before. */
	write(folder: string): void {
		mkdirSync(folder, { recursive: true });
		for (const [name, answer] of Object.entries(this.cases)) {
			rmSync(join(folder, `${name}.json`), { force: true });
			writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(answer, null, '\t')}\n`);
		}
	}

	private clean(name: Case, value: unknown): unknown {
		return mapTexts(this.redactor.hideInData(value), (text) => {
			let cleaned = text;
			// A fresh link may begin with the old one.
			const longestFirst = [...this.placeholders].sort(([a], [b]) => b.length - a.length);
			for (const [known, placeholder] of longestFirst)
				cleaned = cleaned.replaceAll(known, placeholder);
			return WITHOUT_FILES.has(name)
				? cleaned
				: cleaned.replace(LINK, (link) => this.nameFile(link));
		});
	}

	/** Names the file that a link leads to. The link itself may open it to anybody. */
	private nameFile(link: string): string {
		const extension = URL.canParse(link) ? extname(new URL(link).pathname).slice(0, 8) : '';
		const placeholder = `{resultsUrl}/recorded/${++this.files}${extension}`;
		this.placeholders.set(link, placeholder);
		return placeholder;
	}
}

/** Maps all texts of a JSON value. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
	if (typeof value === 'string') return map(value);
	if (Array.isArray(value)) return value.map((part) => mapTexts(part, map));
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, map)]));
}
