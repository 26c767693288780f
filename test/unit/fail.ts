import { ServiceError, type Failure } from '../../nodes/MediaGeneration/api/failure';

/**
 * The error after a failure of this kind. By default nobody answered, and nothing is certain.
 * @param what its message, in place of the one that the facts give
 */
export function fail(
	kind: Failure['kind'],
	{ what, ...facts }: Partial<Failure> & { what?: string } = {},
): ServiceError {
	const failure = { kind, certain: false, origin: 'https://api.example', detail: '', ...facts };
	return Object.assign(new ServiceError(failure), what && { message: what });
}
