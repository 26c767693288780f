import { getSigningSecrets } from '../../nodes/MediaGeneration/callback/signature';

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
])('signing secrets are %s', (_, credentials, secrets) => {
	expect(getSigningSecrets(credentials)).toEqual(secrets);
});
