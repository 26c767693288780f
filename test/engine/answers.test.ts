import { editImage, useService } from './engine';
import { startRawService } from './rawService.cts';

const engine = useService();
let raw: Awaited<ReturnType<typeof startRawService>>;

beforeAll(async () => void (raw = await startRawService()));
afterAll(() => raw.close());

/** A credential with which each endpoint is one of the service's paths. */
const by = (what: string) => ({
	baseUrl: raw.url,
	customEndpoints: true,
	createTaskPath: `/${what}`,
	taskDetailsPath: `/${what}/{taskId}`,
});

const OPTIONS = { timeoutSeconds: 1 };

it.each([
	['is 105 MB in 100 kB', 'bomb', 'larger than 2 MB', 'named it created'],
	['breaks off', 'cut', 'broke off the connection', 'named it created'],
	['never ends', 'dribble', 'no answer within 1 s', 'recent tasks of your account'],
])(
	'the error of a creation names the task, where it is known, in an answer that %s',
	async (_, what, message, next) => {
		const { error } = await engine.run(
			{ ...editImage, prompt: 'Night', options: OPTIONS },
			{ credentials: by(what) },
		);
		expect(error?.message).toContain(message);
		expect(error?.description).toContain(next);
	},
);

it('a download takes a file that is shorter than its compressed form, with a name that is no path', async () => {
	const { output, error } = await engine.run(
		{ resource: 'task', operation: 'download', taskId: '../../etc/cron.d/x', options: OPTIONS },
		{ credentials: by('compressed') },
	);
	expect(error).toBeUndefined();
	const [item] = output[0] ?? [];
	expect(item?.binary?.data).toMatchObject({ fileName: 'etc-cron-d-x.bin', fileSize: '4 B' });
	expect(item?.binary?.data).not.toHaveProperty('directory');
});
