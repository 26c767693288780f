import { buildUrl } from '../../../nodes/MediaGeneration/api/endpoints';

const baseUrl = 'https://api.example.com';
const accessToken = 'token';
const account = { baseUrl, accessToken };

describe('buildUrl', () => {
	it.each([
		['https://api.example.com/', 'https://api.example.com/api/v1/jobs/createTask'],
		['https://example.com/media//', 'https://example.com/media/api/v1/jobs/createTask'],
	])('joins %j and the path', (base, url) => {
		expect(buildUrl({ baseUrl: base, accessToken }, 'createTaskPath')).toBe(url);
	});

	it.each([
		[true, '/tasks/query/a%2Fb%26c'],
		[false, '/api/v1/jobs/recordInfo?taskId=a%2Fb%26c'],
	])('puts the task ID in, encoded, with advanced settings %s in %s', (advancedSettings, path) => {
		const credentials = { ...account, advancedSettings, taskDetailsPath: ' tasks/query/{taskId}' };
		expect(buildUrl(credentials, 'taskDetailsPath', 'a/b&c')).toBe(baseUrl + path);
		const withoutId = baseUrl + path.replace('a%2Fb%26c', '{taskId}');
		expect(buildUrl(credentials, 'taskDetailsPath')).toBe(withoutId);
	});

	it.each([' ', undefined])('takes the usual path where a custom one is %j', (creditsPath) => {
		const custom = { ...account, advancedSettings: true, creditsPath };
		expect(buildUrl(custom, 'creditsPath')).toBe(`${baseUrl}/api/v1/chat/credit`);
	});

	it.each([
		[' https://up.example.com/ ', 'https://up.example.com'],
		[undefined, baseUrl],
	])('uploads, with the upload base URL %j, to %s', (uploadBaseUrl, base) => {
		const path = '/api/file-url-upload';
		expect(buildUrl({ ...account, uploadBaseUrl }, 'urlUploadPath')).toBe(base + path);
	});

	const malformed = "'Base URL' in the credential must begin with https://";
	const unencrypted = "'Base URL' in the credential begins with http://";
	const notJoinable = "'Base URL' in the credential must be an address without a query";
	it.each([
		['api.example.com', malformed],
		['https://', malformed],
		['http://api.example.com', unencrypted],
		['https://api.example.com/media?', notJoinable],
		['https://api.example.com/#x', notJoinable],
		['https://user@api.example.com', notJoinable],
	])('refuses the base URL %j: %s', (base, reason) => {
		expect(() => buildUrl({ baseUrl: base, accessToken }, 'creditsPath')).toThrow(reason);
	});

	it.each([
		['upload', 'must begin with https://'],
		['HTTP://8.8.8.8', 'begins with http://, which would send the access token'],
	])('sends no token to the upload base URL %s', (uploadBaseUrl, reason) => {
		const uploads = { ...account, uploadBaseUrl };
		const message = `'Upload Base URL' in the credential ${reason}`;
		expect(() => buildUrl(uploads, 'urlUploadPath')).toThrow(message);
		expect(buildUrl(uploads, 'creditsPath')).toContain(baseUrl);
	});

	it('takes http:// in a network', () => {
		const url = buildUrl({ baseUrl: 'http://n8n:8787', accessToken }, 'creditsPath');
		expect(url).toBe('http://n8n:8787/api/v1/chat/credit');
	});

	const inPath = { ...account, advancedSettings: true, taskDetailsPath: '/tasks/{taskId}' };

	it.each(['', '.', '..', '../../keys', 'a/../b', 'a\ud800'])(
		'refuses the task ID %j, which would climb the path',
		(taskId) => {
			for (const taskDetailsPath of ['/tasks/{taskId}', '/tasks?id={taskId}'])
				expect(() => buildUrl({ ...inPath, taskDetailsPath }, 'taskDetailsPath', taskId)).toThrow(
					`'Task ID' can't be "${taskId}"`,
				);
		},
	);

	it.each(['a/b', 'a//b.', '...', '%2e%2e'])('keeps %j in its place', (id) => {
		const { pathname } = new URL(buildUrl(inPath, 'taskDetailsPath', id));
		expect(pathname).toBe(`/tasks/${encodeURIComponent(id)}`);
	});

	it.each([
		['epsilon-2/text-to-video', '/api/v1/models/epsilon-2/text-to-video/schema'],
		['Epsilon 2.1/a?b', '/api/v1/models/Epsilon%202.1/a%3Fb/schema'],
	])('keeps the slash of the model %j, and encodes the rest', (model, path) => {
		expect(buildUrl(account, 'modelSchemaPath', model)).toBe(baseUrl + path);
	});

	it.each(['..', 'a/../b', 'a//b', '\udc00'])('refuses the model %j, no path', (model) => {
		expect(() => buildUrl(account, 'modelSchemaPath', model)).toThrow(
			`'Choose Model' can't be "${model}"`,
		);
	});

	it('refuses a details path without a place for the id', () => {
		const credentials = { ...inPath, taskDetailsPath: '/tasks' };
		expect(() => buildUrl(credentials, 'taskDetailsPath', 'id')).toThrow(
			"'Task Details Path' in the credential must contain {taskId}",
		);
	});
});
