/** The path of the request that creates tasks, in a model's document. */
export const TASK = '/api/v1/jobs/createTask';

/** Makes the part of a document about a request with this body. */
export const post = (schema: object) => ({
	post: { requestBody: { content: { 'application/json': { schema } } } },
});

/** Makes the document of a model with this input, and more in it that schemas refer to. */
export const describeModel = (input: unknown, parts: object = {}) => ({
	...parts,
	paths: { [TASK]: post({ properties: { input } }) },
});
