import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { checkCredential, readSettings } from '../../../nodes/MediaGeneration/trigger/options';
import { buildBaseContext } from '../../world/contexts.cts';

const read = (parameters: IDataObject) =>
	readSettings(buildBaseContext<IWebhookFunctions>({ node: { parameters } }));

it('where the user set nothing, the defaults count', () => {
	const defaults = { fetchDetails: true, toleranceSeconds: 300 };
	expect(read({})).toEqual({ events: [], signed: true, ...defaults });
});

it.each([false, '', 0, null, 'false'])(
	'what protects stays on when an expression returns %p: only a literal false turns it off',
	(value) => {
		const isOn = value !== false;
		const options = { fetchDetails: value };
		const settings = read({ verifySignature: value, options } as IDataObject);
		expect(settings).toMatchObject({ signed: isOn, fetchDetails: isOn });
	},
);

it.each([0, 0.5, NaN, -1, '0'])(
	'callbacks of any age are let in only with a tolerance of 0: %p',
	(toleranceSeconds) => {
		const isTaken = toleranceSeconds === 0 || toleranceSeconds === 0.5;
		const settings = read({ options: { toleranceSeconds } });
		expect(settings.toleranceSeconds).toBe(isTaken ? toleranceSeconds : 300);
	},
);

/** Checks a trigger's credential. */
async function activate(webhookSecret: string, parameters: IDataObject = {}) {
	const node = { name: 'Trigger', parameters };
	await checkCredential(buildBaseContext<IHookFunctions>({ node, credentials: { webhookSecret } }));
}

it('a missing key stops the trigger', async () => {
	await expect(activate(' ')).rejects.toThrow(
		/no 'Webhook HMAC Key'.*paste it .* or turn off 'Verify/,
	);
});

it.each<[string, string, IDataObject]>([
	['there is a key', 'a-key-of-16-char', {}],
	['no key is needed', '', { verifySignature: false }],
])('nothing stops the trigger where %s', async (_, key, parameters) => {
	await expect(activate(key, parameters)).resolves.toBeUndefined();
});
