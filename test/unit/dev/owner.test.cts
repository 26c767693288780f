import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readOwner } from '../../../dev/n8n/owner.cts';

const newFolder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'media-generation-owner-'));

it('the owner of each n8n has a password of its own, as n8n wants them, kept for nobody else to read', () => {
	const folders = [newFolder(), newFolder()];
	try {
		const passwords = folders.map((folder) => readOwner(folder).password);
		expect(folders.map((folder) => readOwner(folder).password)).toEqual(passwords);
		expect(new Set(passwords).size).toBe(2);
		for (const password of passwords) expect(password).toMatch(/^(?=.*[A-Z])(?=.*\d).{20,64}$/);
		const files = folders.flatMap((folder) =>
			fs.readdirSync(folder).map((name) => path.join(folder, name)),
		);
		expect(files.map((file) => fs.readFileSync(file, 'utf8'))).toEqual(passwords);
		for (const file of files) expect(fs.statSync(file).mode & 0o777).toBe(0o600);
	} finally {
		for (const folder of folders) fs.rmSync(folder, { recursive: true });
	}
});
