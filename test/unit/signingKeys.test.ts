import { TaskService } from '../../nodes/MediaGeneration/service/client';

const keysOf = async (credentials: object) =>
	(await TaskService.connect({ getCredentials: async () => credentials } as never)).signingKeys;

it.each([
	['the current key', { webhookSecret: 'new' }, { current: 'new', previous: undefined }],
	[
		'both keys',
		{ webhookSecret: 'new', previousWebhookSecret: 'old' },
		{ current: 'new', previous: 'old' },
	],
	[
		'no previous key of blanks, which anyone could guess',
		{ webhookSecret: 'new', previousWebhookSecret: '  ' },
		{ current: 'new', previous: undefined },
	],
	['no current key of blanks', { webhookSecret: '  ', previousWebhookSecret: 'old' }, undefined],
])('signing keys are %s', async (_, credentials, keys) => {
	expect(await keysOf(credentials)).toEqual(keys);
});
