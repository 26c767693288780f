import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { name, version } from '../package.json';
import { askAll, listFree, listPaid } from './questions.cts';
import { formatReport } from './report.cts';
import { createClient, listen } from './service.cts';

const usage = `Usage: npm run probe -- [options]

Asks a real service what this package relies on, and says what differs. Nothing costs credits, save --create. It ends with 1 when something differs.

Environment
  MEDIA_GENERATION_BASE_URL          the service's address
  MEDIA_GENERATION_ACCESS_TOKEN      the access token
  MEDIA_GENERATION_UPLOAD_BASE_URL   only if uploads go to another address
  MEDIA_GENERATION_WEBHOOK_HMAC_KEY  verifies the callback

  --create <model>       creates one task, which costs credits, and watches it to its end
  --input <file.json>    the task's input
  --listen <port>        takes the task's callback on 127.0.0.1
  --public-url <url>     where the service reaches that port, such as that of a tunnel
  --help                 prints this
`;

const WATCH = { limit: 30 * 60, pollEvery: 2 };

const text = { type: 'string' } as const;
const options = {
	...{ create: text, input: text, listen: text, 'public-url': text },
	help: { type: 'boolean' as const },
};

const readVariable = (variable: string) =>
	process.env[`MEDIA_GENERATION_${variable}`]?.trim() ?? '';

function demand(variable: string) {
	const value = readVariable(variable);
	if (value) return value;
	throw new Error(`Set the environment variable MEDIA_GENERATION_${variable}`);
}

async function main() {
	const { values } = parseArgs({ options });
	if (values.help) return console.log(usage);
	const { create: model, input, listen: port, 'public-url': callBackUrl } = values;
	const key = readVariable('WEBHOOK_HMAC_KEY');
	if (!model !== !input) throw new Error('Give both --create and --input');
	if (!port !== !callBackUrl || (port && !(model && key)))
		throw new Error('Give --listen and --public-url together, with --create and an HMAC key');
	const baseUrl = demand('BASE_URL');
	const accessToken = demand('ACCESS_TOKEN');
	const credentials = { baseUrl, accessToken, uploadBaseUrl: readVariable('UPLOAD_BASE_URL') };
	const service = createClient(credentials);
	const stranger = createClient({ ...credentials, accessToken: 'a-wrong-token' });
	const rows = await askAll(listFree(service, stranger, model), 1_100);
	if (model) {
		const receiver = port ? await listen(Number(port)) : undefined;
		const fields = JSON.parse(readFileSync(String(input), 'utf8')) as Record<string, unknown>;
		const request = { model, ...(callBackUrl && { callBackUrl }), input: fields };
		const { callback } = receiver ?? {};
		rows.push(...(await askAll(listPaid(service, { request, callback, key, ...WATCH }))));
		receiver?.close();
	}
	const tested = `${name} ${version} with ${new URL(baseUrl).host}`;
	let report = formatReport(rows, tested);
	for (const secret of [accessToken, key])
		if (secret) report = report.replaceAll(secret, '(hidden)');
	console.log(report);
	if (rows.some(({ verdict }) => verdict === 'different')) process.exitCode = 1;
}

main().catch(({ message }: Error) => {
	console.error(message);
	process.exitCode = 1;
});
