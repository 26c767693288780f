import type { TaskService } from '../../../nodes/MediaGeneration/api/client';
import type { Endpoint } from '../../../nodes/MediaGeneration/api/service';
import { REQUEST, SETTINGS } from './service';

/** What the tests of all endpoints know of one. */
interface Row {
	ask: (service: TaskService) => Promise<unknown>;
	path: string;
	/** What is sent; absent: it is a GET. */
	body?: object;
	/** `data` of a genuine answer. */
	data: unknown;
	/** All such requests of an account share a rate. */
	sharesRate?: true;
}

const LINK = 'https://cdn.example/a.png';
export const TASK_ID = 'task 5f2c9c1e';

/** The input that the service was sent, as text within text. */
const param = JSON.stringify({ model: 'a/b', input: JSON.stringify({ prompt: 'Night' }) });

const file = { size: 3, mimeType: 'image/png', chunks: [Buffer.from('png')] };

export const endpoints: Record<Endpoint, Row> = {
	createTaskPath: {
		ask: async (service) => await service.createTask(REQUEST, SETTINGS),
		path: '/api/v1/jobs/createTask',
		body: REQUEST,
		data: { taskId: TASK_ID },
	},
	taskDetailsPath: {
		ask: async (service) => await service.getTask(TASK_ID, SETTINGS),
		path: '/api/v1/jobs/recordInfo?taskId=task%205f2c9c1e',
		data: {
			taskId: TASK_ID,
			state: 'success',
			param,
			resultJson: JSON.stringify({ resultUrls: [LINK], firstFrameUrl: LINK }),
			failMsg: '',
			createTime: 1_763_640_000_000,
			creditsConsumed: 12.5,
			response: { data: [{ audio_url: LINK, image_url: LINK }] },
		},
	},
	creditsPath: {
		ask: async (service) => await service.request('creditsPath', SETTINGS),
		path: '/api/v1/chat/credit',
		data: 12.5,
	},
	streamUploadPath: {
		ask: async (service) => await service.upload('a.png', file, SETTINGS),
		path: '/api/file-stream-upload',
		body: expect.any(Blob) as object,
		data: { downloadUrl: LINK, fileName: 'a.png' },
	},
	urlUploadPath: {
		ask: async (service) => await service.upload('a.png', LINK, SETTINGS),
		path: '/api/file-url-upload',
		body: { fileUrl: LINK, uploadPath: 'n8n', fileName: 'a.png' },
		data: { fileUrl: LINK },
	},
	modelsPath: {
		ask: async (service) => await service.request('modelsPath', SETTINGS),
		path: '/api/v1/models',
		data: { models: [{ model: 'a/b', title: 'A B', taskType: ['Text to Image'] }] },
		sharesRate: true,
	},
	modelSchemaPath: {
		ask: async (service) => await service.request('modelSchemaPath', SETTINGS, { value: 'a/b' }),
		path: '/api/v1/models/a/b/schema',
		data: { openapi: { openapi: '3.0.0', paths: { '/': { post: {} } } } },
		sharesRate: true,
	},
	downloadUrlPath: {
		ask: async (service) =>
			await service.request('downloadUrlPath', SETTINGS, { body: { url: LINK } }),
		path: '/api/v1/common/download-url',
		body: { url: LINK },
		data: LINK,
		sharesRate: true,
	},
};
