import { Clock } from './clock.cts';

it('what never ends fails with the name of its test', async () => {
	const clock = new Clock();
	const again = () => void clock.after(NaN, again);
	again();
	const message = '"what never ends fails with the name of its test" goes on for ever';
	await expect(clock.pass(1)).rejects.toThrow(message);
});
