import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { runCommand } from '../command.cts';
import { root } from '../pack.cts';
import { readContract, type Contract } from './contract.cts';

/** Its nodes find there what they import. */
const CACHE = path.join(root, 'node_modules', '.cache');

/**
 * Reads the contract of the last version of a package that npm has.
 * @returns undefined if nothing of this name is published
 * @throws if npm can't be asked
 */
export async function readPublished(
	name: string,
): Promise<{ version: string; contract: Contract } | undefined> {
	fs.mkdirSync(CACHE, { recursive: true });
	const folder = fs.mkdtempSync(path.join(CACHE, 'contract-'));
	try {
		const args = ['pack', `${name}@latest`, '--json', '--pack-destination', folder];
		const printed = await runCommand('npm', args, { cwd: folder, what: 'npm pack' }).catch(
			(error: Error) => {
				if (/\bE404\b/.test(error.message)) return undefined;
				throw error;
			},
		);
		if (printed === undefined) return undefined;
		const [{ filename, version }] = JSON.parse(printed) as [{ filename: string; version: string }];
		execFileSync('tar', ['-xzf', path.join(folder, filename), '-C', folder]);
		return { version, contract: readContract(path.join(folder, 'package')) };
	} finally {
		fs.rmSync(folder, { recursive: true, force: true });
	}
}
