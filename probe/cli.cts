import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { name, version } from '../package.json';
import type { Credentials } from '../nodes/MediaGeneration/api/endpoints.ts';
import { createClient } from './client.cts';
import { nameDialect, type Clues } from './dialect.cts';
import { askForFree } from './free.cts';
import { watchPaidTask } from './paid.cts';
import { formatReport } from './report.cts';
import { formatRows, type Row } from './rows.cts';

const usage = `Usage: npm run probe -- [options]

Asks a real service what this package relies on, says what differs, and which dialect the service speaks. Nothing
costs credits, save --create.

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
  --report               writes what came into TESTING.md, dated and without secrets
  --help                 prints this

It ends with 1 when something that the package relies on differs.
`;

/** In seconds. */
const LIMIT = 30 * 60;
/** Services allow one look-up a second, for the whole account. */
const LOOKUP_PAUSE = 1_100;

const options = {
	create: { type: 'string' },
	input: { type: 'string' },
	listen: { type: 'string' },
	'public-url': { type: 'string' },
	report: { type: 'boolean', default: false },
	help: { type: 'boolean', default: false },
} as const;

function readCredentials(): Credentials {
	const read = (name: string) => process.env[`MEDIA_GENERATION_${name}`]?.trim();
	for (const name of ['BASE_URL', 'ACCESS_TOKEN'])
		if (!read(name)) throw new Error(`Set the environment variable MEDIA_GENERATION_${name}`);
	return {
		baseUrl: read('BASE_URL') ?? '',
		accessToken: read('ACCESS_TOKEN') ?? '',
		uploadBaseUrl: read('UPLOAD_BASE_URL'),
		webhookSecret: read('WEBHOOK_HMAC_KEY'),
	};
}

async function main() {
	const { values } = parseArgs({ options });
	if (values.help) return console.log(usage);
	const { create: model, input, listen: port, 'public-url': callBackUrl } = values;
	if (!model !== !input) throw new Error('Give both --create and --input');
	if (!port !== !callBackUrl || (port && !model))
		throw new Error('Give --listen and --public-url together, with --create');
	const credentials = readCredentials();
	const clues: Clues = {};
	const service = createClient(credentials, clues);
	const stranger = createClient({ ...credentials, accessToken: 'a-wrong-token' }, clues);
	const rows = await askForFree(service, { stranger, lookupPause: LOOKUP_PAUSE, model });
	if (model) {
		const fields = JSON.parse(readFileSync(String(input), 'utf8')) as Record<string, unknown>;
		const paid = {
			request: { model, ...(callBackUrl && { callBackUrl }), input: fields },
			port: port ? Number(port) : undefined,
			key: credentials.webhookSecret,
			limit: LIMIT,
			pollEvery: 2,
		};
		rows.push(...(await watchPaidTask(service, paid, clues)));
	}
	const different = rows.filter(({ verdict }) => verdict === 'different').length;
	const summary = different
		? `${different} of ${rows.length} answers differ from what the package relies on.`
		: 'The service answers as the package expects.';
	console.log(`\n${formatRows(rows)}\n\nDialect: ${nameDialect(clues)}\n${summary}`);
	if (values.report) writeReport(rows, clues, credentials);
	if (different) process.exitCode = 1;
}

/** Writes the page that a release can keep. */
function writeReport(rows: Row[], clues: Clues, credentials: Credentials) {
	const { baseUrl, accessToken, webhookSecret = '' } = credentials;
	const report = formatReport({
		rows,
		clues,
		host: new URL(baseUrl).host,
		tested: `${name} ${version}`,
		date: new Date(),
		secrets: [accessToken, webhookSecret],
	});
	writeFileSync('TESTING.md', report);
	console.log('Written: TESTING.md');
}

main().catch(({ message }: Error) => {
	console.error(message);
	process.exitCode = 1;
});
