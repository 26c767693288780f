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

async function main() {
	const { values } = parseArgs({
		options: {
			port: { type: 'string', default: '8787' },
			'task-seconds': { type: 'string', default: String(commandLineSettings.taskSeconds) },
			dialect: { type: 'string', default: defaults.dialect },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		console.log(usage);
		return;
	}
	if (!(values.dialect in dialects)) throw new Error(`There is no dialect "${values.dialect}"`);
	const service = await startService({
		...commandLineSettings,
		port: Number(values.port),
		taskSeconds: Number(values['task-seconds']),
		dialect: values.dialect as DialectName,
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

Sample media to give as inputs
  ${service.resultsUrl}/sample.png
  ${service.resultsUrl}/sample.mp4
  ${service.resultsUrl}/sample.mp3

Faults: write one or more into a prompt
${faults.join('\n')}
`);
	for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.close());
}

main().catch((error) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
