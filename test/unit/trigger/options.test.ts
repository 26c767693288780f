import type { IDataObject, INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { readSettings, triggerOptions } from '../../../nodes/MediaGeneration/trigger/options';

const read = (set: IDataObject) =>
	readSettings({
		getNodeParameter: (name: string, fallback: unknown) => set[name] ?? fallback,
	} as IWebhookFunctions);

const defaults = { fetchDetails: true, toleranceSeconds: 300 };

it('options are shown with the defaults that count where the user set nothing', () => {
	const optionFields = triggerOptions.options as INodeProperties[];
	const shown = optionFields.map((field) => [field.name, field.default] as const);
	expect(Object.fromEntries(shown)).toEqual(defaults);
	expect(read({})).toEqual({ events: [], verifySignature: true, ...defaults });
	expect(optionFields.at(-1)?.typeOptions).toEqual({ minValue: 0 });
});

it.each([false, '', 0, null, 'false'])(
	'what protects stays on when an expression returns %p: only a literal false turns it off',
	(value) => {
		const isOn = value !== false;
		const options = { fetchDetails: value };
		const settings = read({ verifySignature: value, options } as IDataObject);
		expect(settings).toMatchObject({ verifySignature: isOn, fetchDetails: isOn });
	},
);

it.each([0, 0.5, null, NaN, Infinity, -1, '0'])(
	'callbacks of any age are let in only with a tolerance of 0: %p',
	(toleranceSeconds) => {
		const isTaken = toleranceSeconds === 0 || toleranceSeconds === 0.5;
		const settings = read({ options: { toleranceSeconds } });
		expect(settings.toleranceSeconds).toBe(isTaken ? toleranceSeconds : 300);
	},
);
