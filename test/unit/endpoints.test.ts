import { buildUrl } from '../../nodes/MediaGeneration/api/endpoints';

const baseUrl = 'https://api.example.com';

describe('buildUrl', () => {
	it.each([
		['https://api.example.com/', 'https://api.example.com/api/v1/jobs/createTask'],
		[' https://api.example.com ', 'https://api.example.com/api/v1/jobs/createTask'],
		['https://example.com/media//', 'https://example.com/media/api/v1/jobs/createTask'],
		['HTTPS://api.example.com', 'HTTPS://api.example.com/api/v1/jobs/createTask'],
		['http://n8n:8787', 'http://n8n:8787/api/v1/jobs/createTask'],
	])('joins %j and the path', (base, url) => {
		expect(buildUrl({ baseUrl: base }, 'createTaskPath')).toBe(url);
	});

	it('puts the task id in, encoded', () => {
		expect(buildUrl({ baseUrl }, 'taskDetailsPath', 'a/b&c')).toBe(
			'https://api.example.com/api/v1/jobs/recordInfo?taskId=a%2Fb%26c',
		);
	});

	it('takes paths of the credential while custom endpoints are on', () => {
		const credentials = { baseUrl, customEndpoints: true, taskDetailsPath: 'tasks/query/{taskId}' };
		expect(buildUrl(credentials, 'taskDetailsPath', 'id')).toBe(`${baseUrl}/tasks/query/id`);
		expect(buildUrl({ ...credentials, customEndpoints: false }, 'taskDetailsPath', 'id')).toBe(
			`${baseUrl}/api/v1/jobs/recordInfo?taskId=id`,
		);
	});

	it.each([' ', undefined])('takes the usual path where a custom one is %j', (creditsPath) => {
		expect(buildUrl({ baseUrl, customEndpoints: true, creditsPath }, 'creditsPath')).toBe(
			`${baseUrl}/api/v1/chat/credit`,
		);
	});

	it.each([
		[' https://up.example.com/ ', 'https://up.example.com'],
		[' ', baseUrl],
		[undefined, baseUrl],
	])('uploads, with the upload base URL %j, to %s', (uploadBaseUrl, base) => {
		const path = '/api/file-url-upload';
		expect(buildUrl({ baseUrl, uploadBaseUrl }, 'urlUploadPath')).toBe(base + path);
	});

	it.each(['', 'api.example.com', 'ftp://api.example.com', 'xhttp://api.example.com', 'https://'])(
		'refuses the base URL %j',
		(base) => {
			expect(() => buildUrl({ baseUrl: base }, 'creditsPath')).toThrow(
				"'Base URL' in the credential must begin with https://",
			);
		},
	);

	it.each([
		'https://api.example.com?key=1',
		'https://api.example.com/media?',
		'https://api.example.com/#x',
		'https://user:secret@api.example.com',
	])('refuses the base URL %j, to which no path can be added', (base) => {
		expect(() => buildUrl({ baseUrl: base }, 'creditsPath')).toThrow(
			"'Base URL' in the credential must be an address without a query",
		);
	});

	it('names the upload base URL when that is malformed', () => {
		expect(() => buildUrl({ baseUrl, uploadBaseUrl: 'upload' }, 'urlUploadPath')).toThrow(
			"'Upload Base URL' in the credential",
		);
	});

	it.each(['.', '..'])('refuses the task ID %j, which would climb the path', (taskId) => {
		for (const taskDetailsPath of ['/tasks/{taskId}', '/tasks?id={taskId}'])
			expect(() =>
				buildUrl({ baseUrl, customEndpoints: true, taskDetailsPath }, 'taskDetailsPath', taskId),
			).toThrow('which no task can have');
	});

	it.each(['../credit', '..%2fcredit', '...', 'a/../b', '%2e%2e'])(
		'keeps the task ID %j in its place',
		(taskId) => {
			const credentials = {
				baseUrl,
				customEndpoints: true,
				taskDetailsPath: '/tasks/{taskId}',
			};
			expect(new URL(buildUrl(credentials, 'taskDetailsPath', taskId)).pathname).toBe(
				`/tasks/${encodeURIComponent(taskId)}`,
			);
		},
	);

	it.each([
		['epsilon-2/text-to-video', '/api/v1/models/epsilon-2/text-to-video/schema'],
		['Epsilon 2.1/a?b', '/api/v1/models/Epsilon%202.1/a%3Fb/schema'],
	])('keeps the slash of the model %j, and encodes the rest', (model, path) => {
		expect(buildUrl({ baseUrl }, 'modelSchemaPath', model)).toBe(baseUrl + path);
	});

	it.each(['..', 'a/../b', 'a//b', '/a', './a'])(
		'refuses the model %j, which is no path',
		(model) => {
			expect(() => buildUrl({ baseUrl }, 'modelSchemaPath', model)).toThrow(
				'which no model can have',
			);
		},
	);

	it('refuses a details path without a place for the id', () => {
		const credentials = { baseUrl, customEndpoints: true, taskDetailsPath: '/tasks' };
		expect(() => buildUrl(credentials, 'taskDetailsPath', 'id')).toThrow('must contain {taskId}');
	});
});
