import { parseArgs } from 'node:util';
import { dialects, type DialectName } from './dialects.cts';
import { taskFaults } from './faults.cts';
import { startService } from './index.cts';
import { commandLineSettings, defaults } from './settings.cts';

const usage = `Usage: npm run service -- [options]

Runs an emulator of the media generation service on 127.0.0.1.

  --port <number>         the API's port; the next one serves the files (default 8787)
  --task-seconds <number> how long a task takes (default ${commandLineSettings.taskSeconds})
  --dialect <name>        ${Object.keys(dialects).join(' or ')} (default ${defaults.dialect})
  --help                  prints this
`;

const options = {
	port: { type: 'string', default: '8787' },
	'task-seconds': { type: 'string', default: String(commandLineSettings.taskSeconds) },
	dialect: { type: 'string', default: defaults.dialect },
	help: { type: 'boolean', default: false },
} as const;

async function main() {
	const { port, 'task-seconds': taskSeconds, dialect, help } = parseArgs({ options }).values;
	if (help) return console.log(usage);
	if (!(dialect in dialects)) throw new Error(`There is no dialect "${dialect}"`);
	const service = await startService({
		...commandLineSettings,
		port: Number(port),
		taskSeconds: Number(taskSeconds),
		dialect: dialect as DialectName,
		log: (line) => console.log(`${new Date().toISOString()} ${line}`),
	});
	const faults = Object.entries(taskFaults.shape).map(
		([name, { description }]) => `  ${`#${name}`.padEnd(18)}${description}`,
	);
	console.log(`The media generation service's emulator is running.

For the credential
  Base URL          ${service.url}
  Access Token      ${defaults.token}
  Webhook HMAC Key  ${defaults.webhookSecret}
  Upload Base URL   ${service.uploadUrl === service.url ? '' : service.uploadUrl}

Sample media to give as inputs: sample.png, sample.mp4 and sample.mp3 at ${service.resultsUrl}/

Faults: write one or more into a prompt
${faults.join('\n')}
`);
	for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.close());
}

main().catch(({ message }: Error) => {
	console.error(message);
	process.exitCode = 1;
});
