import { buildGuide, ROUND } from '../../../dev/guide.cts';
import { listFaults, readFaults } from '../../../dev/service/faults.cts';
import { startService } from '../../../dev/service/index.cts';

it('npm start says where the first example is, and all that a credential for the emulator and a fault need', async () => {
	await using service = await startService({ port: 0 });
	const owner = { email: 'owner@example.com', password: 'secret', firstName: '', lastName: '' };
	const n8n = { url: 'http://n8n.example', owner };
	const ids = { 'make-a-picture': 'first', [ROUND.start]: 'start', [ROUND.trigger]: 'trigger' };
	const guide = buildGuide({ n8n, service }, ids);
	expect(guide).toMatch(/Begin with "Make a picture": http:\/\/n8n\.example\/workflow\/first\n/);
	for (const id of ['start', 'trigger']) expect(guide).toContain(`/workflow/${id}\n`);
	expect(guide).toMatch(new RegExp(`Base URL +${service.url}\n`));
	expect(guide).toMatch(/Access Token +dev-token\n/);
	expect(guide).toMatch(/Webhook HMAC Key +dev-webhook-hmac-key\n/);
	expect(guide).toContain('you get sample files');
	expect(guide).not.toMatch(/undefined|gulp/);
	const words = [...guide.matchAll(/^ {2}#(\w+) /gm)].map(([, word = '']) => word);
	expect(words).toEqual(listFaults().map(({ name }) => name));
	expect(words).toContain('detailsFail');
	for (const { name, description } of listFaults())
		expect(readFaults(description.includes(`#${name}=`) ? description : `#${name}`)).toHaveProperty(
			name,
		);
});
