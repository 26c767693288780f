import { contract } from '../../dev/fixtures/models.cts';
import { create, start } from './support.cts';

/** The emulator's models are those of the contract. */
test.each(Object.entries(contract))(
	'%s takes its fields, and nothing else',
	async (model, { mandatory, sentBlank = [], input }) => {
		const service = await start();
		const required = [...Object.values(mandatory), ...sentBlank];
		const send = async (changes: object) =>
			(await create(service, { model, input: { ...input, ...changes } })).code;
		expect(await send({})).toBe(200);
		expect(await send({ ['seed' in input ? 'color' : 'seed']: 1 })).toBe(422);
		for (const name of Object.keys(input)) {
			const code = required.includes(name) ? 422 : 200;
			expect([name, await send({ [name]: undefined })]).toEqual([name, code]);
			expect([name, await send({ [name]: {} })]).toEqual([name, 422]);
		}
		expect([...service.tasks.values()][0]?.input).toEqual(input);
	},
);
