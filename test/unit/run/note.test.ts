import { noteTask, noteUnknown } from '../../../nodes/MediaGeneration/run/note';
import { prepare } from '../n8n';
import { open } from './sending';

it("each task, and each that may exist, is in n8n's log", () => {
	const lines: string[] = [];
	const log = (line: string) => void lines.push(line);
	const run = open(3, { more: { logger: { info: log, warn: log } } });
	const [first, second, third] = [0, 1, 2].map((item) => prepare(run.call.context, item));
	noteTask(run, first!, 'task');
	noteUnknown(run, second!, { message: 'The service broke off', taskId: 'named' });
	noteUnknown(run, third!, { message: 'No answer' });
	const place = '"Node" (workflow workflow, execution 1, item';
	expect(lines).toEqual([
		`${place} 0) created task task`,
		`${place} 1) may have created task named: The service broke off`,
		`${place} 2) may have created a task: No answer`,
	]);
});
