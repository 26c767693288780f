import { buildUrl } from '../../../nodes/MediaGeneration/api/exchange';

const baseUrl = 'https://api.example.com';
const account = { baseUrl, accessToken: 'token' };

it.each([
	['https://api.example.com/', 'https://api.example.com/api/v1/jobs/createTask'],
	['https://example.com/media//', 'https://example.com/media/api/v1/jobs/createTask'],
	['http://n8n:8787', 'http://n8n:8787/api/v1/jobs/createTask'],
])('joins %j and the path', (base, url) => {
	expect(buildUrl({ ...account, baseUrl: base }, 'createTaskPath')).toBe(url);
});

it.each([
	[true, ' tasks/query/{taskId}', '/tasks/query/a%2Fb%26c'],
	[true, ' ', '/api/v1/jobs/recordInfo?taskId=a%2Fb%26c'],
	[false, 'tasks/{taskId}', '/api/v1/jobs/recordInfo?taskId=a%2Fb%26c'],
])('with advanced settings %s and the path %j goes to %s', (advancedSettings, path, shown) => {
	const credentials = { ...account, advancedSettings, taskDetailsPath: path };
	expect(buildUrl(credentials, 'taskDetailsPath', 'a/b&c')).toBe(baseUrl + shown);
});

it.each([
	[' https://up.example.com/ ', 'https://up.example.com'],
	[undefined, baseUrl],
])('uploads, with the upload base URL %j, to %s', (uploadBaseUrl, base) => {
	const path = '/api/file-url-upload';
	expect(buildUrl({ ...account, uploadBaseUrl }, 'urlUploadPath')).toBe(base + path);
});

it.each([
	['api.example.com', 'must begin with https://'],
	['http://api.example.com', 'begins with http://, which would send the access token'],
	['https://api.example.com/media?', 'must begin with https:// and have no query'],
	['https://user@api.example.com', 'must begin with https:// and have no query, # or login'],
])('sends no token to the base URL %j: %s', (base, reason) => {
	const message = `Base URL' in the credential ${reason}`;
	expect(() => buildUrl({ ...account, baseUrl: base }, 'creditsPath')).toThrow(message);
	const uploads = { ...account, uploadBaseUrl: base };
	expect(() => buildUrl(uploads, 'urlUploadPath')).toThrow(`'Upload ${message}`);
	expect(buildUrl(uploads, 'creditsPath')).toContain(baseUrl);
});

const inPath = { ...account, advancedSettings: true, taskDetailsPath: '/tasks/{taskId}' };

it.each(['', '.', '../../keys', 'a/../b', 'a\ud800'])(
	'throws for the task ID %j, which leads elsewhere',
	(id) => {
		expect(() => buildUrl(inPath, 'taskDetailsPath', id)).toThrow(`'Task ID' can't be "${id}"`);
	},
);

it.each(['a//b.', '...', '%2e%2e'])('keeps %j in its place', (id) => {
	const { pathname } = new URL(buildUrl(inPath, 'taskDetailsPath', id));
	expect(pathname).toBe(`/tasks/${encodeURIComponent(id)}`);
});

it('keeps the slash of a model, and encodes the rest', () => {
	const path = '/api/v1/models/Epsilon%202.1/a%3Fb/schema';
	expect(buildUrl(account, 'modelSchemaPath', 'Epsilon 2.1/a?b')).toBe(baseUrl + path);
});

it.each(['a/../b', 'a//b'])('throws for the model %j, no path', (model) => {
	const message = `'Choose Model' can't be "${model}"`;
	expect(() => buildUrl(account, 'modelSchemaPath', model)).toThrow(message);
});

it('throws for a details path without a place for the id', () => {
	const credentials = { ...inPath, taskDetailsPath: '/tasks' };
	expect(() => buildUrl(credentials, 'taskDetailsPath', 'id')).toThrow(
		"'Task Details Path' in the credential must contain {taskId}",
	);
});
