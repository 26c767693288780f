import type { IExecuteFunctions } from 'n8n-workflow';
import {
	isEndedAnswer,
	isResumeUrl,
	readResumeUrl,
} from '../../../nodes/MediaGeneration/host/resumeUrl';
import { fake } from '../n8n';

it('our own segment is put behind the path of n8n, which has its token and maybe a login', () => {
	const evaluateExpression = jest.fn().mockReturnValue('https://me:pw@n8n.example/a/7?signature=x');
	const context = fake<IExecuteFunctions>({ evaluateExpression });
	const expected = 'https://me:pw@n8n.example/a/7/media-generation?signature=x';
	expect(readResumeUrl(context)).toBe(expected);
	expect(evaluateExpression).toHaveBeenCalledWith('{{ $execution.resumeUrl }}', 0);
});

it.each([
	['https://n8n.example/n8n/waiting/7?signature=x', true],
	['https://other.example/n8n/waiting/7/approve', true],
	['={{ $execution.resumeUrl }}', true],
	['https://n8n.example/webhook/waiting/7', false],
	['https://n8n.example/', false],
	[{ $execution: 'resumeUrl' }, false],
	[undefined, false],
])('the resume URL of an execution, where n8n has this path for it: %j is one: %s', (value, is) => {
	const additionalData = { webhookWaitingBaseUrl: 'https://me:pw@n8n.example/n8n/waiting' };
	expect(isResumeUrl({ additionalData }, value)).toBe(is);
	expect(isResumeUrl({}, value)).toBe(is && String(value).startsWith('='));
});

// As n8n writes them, with its missing quotation mark.
it.each<[unknown, boolean]>([
	['The execution "7" does not exist.', true],
	['The execution "7 has finished already.', true],
	['The execution "7" has finished with error.', true],
	[
		'The workflow for execution "7" does not contain a waiting webhook with a matching path/method.',
		true,
	],
	['The execution "7" is running already.', false],
	['The requested webhook "POST 7" is not registered.', false],
	['Not Found: The execution "7" does not exist.', false],
	['The page does not exist.', false],
	[undefined, false],
])('of n8n, the answer %j says that the execution waits no more: %s', (message, isEnded) => {
	expect(isEndedAnswer({ code: 404, message })).toBe(isEnded);
});
