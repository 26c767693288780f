import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Reads the owner of the n8n with this user folder. The first call makes the password, and stores it there. */
export function readOwner(folder: string) {
	const file = path.join(folder, 'owner-password');
	if (!fs.existsSync(file)) {
		// n8n wants a digit and a capital.
		const password = `N8n-${randomBytes(16).toString('hex')}`;
		fs.writeFileSync(file, password, { mode: 0o600, flag: 'wx' });
	}
	const password = fs.readFileSync(file, 'utf8');
	return { email: 'owner@example.com', password, firstName: 'Dev', lastName: 'Owner' };
}
