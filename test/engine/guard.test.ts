import './guardOn.cts';
import { editImage, useService } from './engine';

const engine = useService({ taskSeconds: 0.05, resultSeconds: null });

const named = () => ({ baseUrl: engine.service.url.replace('127.0.0.1', 'localhost') });

it("a creation that n8n's guard blocks is refused: nothing was sent", async () => {
	const { error } = await engine.run({ ...editImage, prompt: 'Night' });
	expect(error?.message).toContain("can't be reached: this n8n's SSRF protection blocks");
	expect(error?.description).toContain('N8N_SSRF_ALLOWED_HOSTNAMES');
	expect(error?.description).not.toContain('may have been paid for');
	expect(engine.service.requests).toEqual([]);
});

it('a download from an address that it blocks says so', async () => {
	const credentials = named();
	const { output } = await engine.run({ ...editImage, prompt: 'Night' }, { credentials });
	const taskId = String(output[0]?.[0]?.json.taskId);
	await engine.service.waitForTask(taskId);
	const parameters = { resource: 'task', operation: 'download', taskId };
	const { error } = await engine.run(parameters, { credentials });
	expect(error?.message).toContain("this n8n's SSRF protection blocks that address");
	expect(error?.description).toContain('N8N_SSRF_ALLOWED_IP_RANGES');
});
