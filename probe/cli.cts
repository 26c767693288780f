import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { listen } from './listen.cts';
import { probe } from './probe.cts';
import { formatRows } from './report.cts';

const usage = `Usage: npm run probe -- [options]

Asks a real service what this package relies on, and says what differs. Nothing costs credits, save --create.

Environment
  MEDIA_GENERATION_BASE_URL          the service's address
  MEDIA_GENERATION_ACCESS_TOKEN      the access token
  MEDIA_GENERATION_UPLOAD_BASE_URL   only if uploads go to another address
  MEDIA_GENERATION_WEBHOOK_HMAC_KEY  verifies the callback

  --create <model>       creates one task, which costs credits, and watches it to its end
  --input <file.json>    the task's input
  --listen <port>        takes the task's callback on 127.0.0.1
  --public-url <url>     where the service reaches that port. A tunnel leads there, for example
                         cloudflared tunnel --url http://127.0.0.1:<port>
  --limit <minutes>      how long the task is watched (default 30)
  --folder <path>        where the answers are written, without secrets (default test/recorded/<host>)
  --help                 prints this

It ends with 1 when something that the package relies on differs.
`;

/** @throws {Error} when it is not set */
function readEnvironment(name: string): string {
	const value = process.env[name]?.trim();
	if (!value) throw new Error(`Set the environment variable ${name}`);
	return value;
}

function readCredentials(): Credentials {
	return {
		baseUrl: readEnvironment('MEDIA_GENERATION_BASE_URL'),
		accessToken: readEnvironment('MEDIA_GENERATION_ACCESS_TOKEN'),
		uploadBaseUrl: process.env.MEDIA_GENERATION_UPLOAD_BASE_URL,
		webhookSecret: process.env.MEDIA_GENERATION_WEBHOOK_HMAC_KEY,
	};
}

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`);

async function main() {
	const text = { type: 'string' } as const;
	const { values } = parseArgs({
		options: {
			create: text,
			input: text,
			listen: text,
			'public-url': text,
			limit: { type: 'string', default: '30' },
			folder: text,
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(usage);
		return;
	}
	const { create: model, input, listen: port, 'public-url': callBackUrl } = values;
	if (!model !== !input) throw new Error('Give both --create and --input');
	if (!port !== !callBackUrl || (port && !model))
		throw new Error('Give --listen and --public-url together, with --create');
	const minutes = Number(values.limit);
	if (!(minutes > 0)) throw new Error('--limit takes a number of minutes');
	const credentials = readCredentials();
	const receiver = port ? await listen(Number(port)) : undefined;
	try {
		const { rows, recording } = await probe(credentials, {
			free: { model },
			paid: model
				? {
						request: {
							model,
							...(callBackUrl && { callBackUrl }),
							input: JSON.parse(readFileSync(String(input), 'utf8')) as Record<string, unknown>,
						},
						waitForCallback: receiver?.waitForCallback,
						pollEvery: 2,
						limit: minutes * 60,
						callbackWithin: 60,
						log,
					}
				: undefined,
		});
		const folder = values.folder ?? join('test/recorded', new URL(credentials.baseUrl).hostname);
		recording.write(folder);
		console.log(
			`\n${formatRows(rows)}\n\nThe answers are in ${folder}. Look through them before you share them.`,
		);
		const different = rows.filter(({ verdict }) => verdict === 'different').length;
		console.log(
			different
				? `${different} of ${rows.length} answers differ from what the package relies on.`
				: 'The service answers as the package expects.',
		);
		if (different) process.exitCode = 1;
	} finally {
		receiver?.close();
	}
}

main().catch((error) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
