import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import { readItem } from '../../../nodes/MediaGeneration/run/item';
import { buildCall, fake } from '../n8n';

/** Reads the prompt of an item, for which n8n made this of its expression. */
async function readPrompt(prompt: unknown) {
	const values: Record<string, unknown> = { prompt, options: {} };
	const call = buildCall({}, { getNodeParameter: (name: string) => values[name] });
	const { read } = await readItem(call, [], 0, async () => fake<TaskService>({}));
	return read('prompt');
}

it('a prompt whose expression asks for what is not there is refused, and the error says how to have none', async () => {
	await expect(readPrompt(undefined)).rejects.toMatchObject({
		message: "'Prompt' is required",
		description: expect.stringContaining("{{ $json.prompt ?? '' }}"),
	});
});

it.each(['', ' ', null, 'A fox'])('the prompt %j is taken', async (prompt) => {
	expect(await readPrompt(prompt)).toBe(prompt);
});
