import { endpointUrl } from '../../nodes/MediaGeneration/service/endpoints';

const baseUrl = 'https://api.example.com';

describe('endpointUrl', () => {
	it.each([
		['https://api.example.com/', 'https://api.example.com/api/v1/jobs/createTask'],
		[' https://api.example.com ', 'https://api.example.com/api/v1/jobs/createTask'],
		['https://example.com/media//', 'https://example.com/media/api/v1/jobs/createTask'],
	])('joins %j and the path', (base, url) => {
		expect(endpointUrl({ baseUrl: base }, 'createTaskPath')).toBe(url);
	});

	it('puts the task id in, encoded', () => {
		expect(endpointUrl({ baseUrl }, 'taskDetailsPath', 'a/b&c')).toBe(
			'https://api.example.com/api/v1/jobs/recordInfo?taskId=a%2Fb%26c',
		);
	});

	it('takes paths of the credential while custom endpoints are on', () => {
		const credentials = { baseUrl, customEndpoints: true, taskDetailsPath: 'tasks/query/{taskId}' };
		expect(endpointUrl(credentials, 'taskDetailsPath', 'id')).toBe(`${baseUrl}/tasks/query/id`);
		expect(endpointUrl({ ...credentials, customEndpoints: false }, 'taskDetailsPath', 'id')).toBe(
			`${baseUrl}/api/v1/jobs/recordInfo?taskId=id`,
		);
	});

	it('takes the usual path where a custom one is blank', () => {
		expect(endpointUrl({ baseUrl, customEndpoints: true, creditsPath: ' ' }, 'creditsPath')).toBe(
			`${baseUrl}/api/v1/chat/credit`,
		);
	});

	it.each(['', 'api.example.com', 'ftp://api.example.com', 'https://'])(
		'refuses the base URL %j',
		(base) => {
			expect(() => endpointUrl({ baseUrl: base }, 'creditsPath')).toThrow(
				'Base URL in the credential must begin with https://',
			);
		},
	);

	it('refuses a details path without a place for the id', () => {
		const credentials = { baseUrl, customEndpoints: true, taskDetailsPath: '/tasks' };
		expect(() => endpointUrl(credentials, 'taskDetailsPath', 'id')).toThrow(
			'must contain {taskId}',
		);
	});
});
