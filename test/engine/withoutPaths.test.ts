import type { INodeParameters } from 'n8n-workflow';
import type { SettingsInput } from '../../dev/service/index.cts';
import { readMedia } from '../media/corpus.cts';
import { editImage, useService } from './engine';

const SERVICE = { taskSeconds: 0.05, resultSeconds: null, lookupSeconds: 0 };
const engine = useService(SERVICE);

const photo = { data: readMedia('plain.png').toString('base64'), mimeType: 'image/png' };
const create = { ...editImage, prompt: 'A red fox' };

/** What people do with the node, and what the service must have for it. */
const FLOWS: Record<string, { parameters: INodeParameters; needs: Array<keyof SettingsInput> }> = {
	create: { parameters: create, needs: ['creation'] },
	createWithFile: { parameters: { ...create, image: 'photo' }, needs: ['creation', 'uploads'] },
	createAndWait: {
		parameters: {
			...create,
			operation: 'createAndWait',
			waitFor: 'polling',
			waitLimit: 0.02,
			downloadResults: true,
		},
		needs: ['creation', 'details'],
	},
	anyModel: {
		parameters: { ...create, model: 'custom', customModel: 'custom/any', customInput: '{"a": 1}' },
		needs: ['creation'],
	},
	get: { parameters: { resource: 'task', operation: 'get' }, needs: ['details'] },
	download: { parameters: { resource: 'task', operation: 'download' }, needs: ['details'] },
	upload: {
		parameters: { resource: 'file', operation: 'upload', binaryPropertyName: 'photo' },
		needs: ['uploads'],
	},
	credits: { parameters: { resource: 'account', operation: 'getCredits' }, needs: ['balance'] },
};

/** A service without one of its paths, and one that sends each callback once. */
const WITHOUT: SettingsInput[] = [
	{ callbackRetrySeconds: [] },
	{ creation: false },
	{ details: false },
	{ balance: false },
	{ uploads: false },
	{ catalogue: false },
	{ downloadUrl: false },
];

describe.each(WITHOUT)('a service with %j', (settings) => {
	const present = { creation: true, details: true, balance: true, uploads: true };
	let taskId: string;
	beforeEach(async () => {
		engine.service.set({ ...SERVICE, ...present, catalogue: true, downloadUrl: true });
		const { output } = await engine.run(create);
		taskId = String(output[0]?.[0]?.json.taskId);
		await engine.service.waitForTask(taskId);
		engine.service.set(settings);
	});

	it.each(Object.entries(FLOWS))('does all that %s needs, or is told why not', async (_, flow) => {
		const { output, error } = await engine.run(
			{ taskId, ...flow.parameters },
			{ binary: { photo } },
		);
		const [item] = output[0] ?? [];
		const lacks = flow.needs.some((need) => settings[need] === false);
		if (!lacks) {
			expect(error).toBeUndefined();
			expect(item?.json).not.toHaveProperty('lookError');
			expect(item?.json.status).not.toBe('timedOut');
			return;
		}
		// A task that was paid for comes out all the same.
		if (item) expect(item.json).toMatchObject({ status: 'timedOut', taskId: expect.any(String) });
		const said = item ? item.json.lookError : `${error?.message} ${error?.description}`;
		expect(said).toMatch(/nothing at that address.*404/);
		expect(said).not.toContain('may have been paid for');
	});
});
