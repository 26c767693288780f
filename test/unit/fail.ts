import { buildError, type ServiceError } from '../../nodes/MediaGeneration/api/failure';

/**
 * Builds the error of a failure of this kind. By default nobody answered.
 * @param message in place of the one that the facts give
 */
export function fail(
	kind: Parameters<typeof buildError>[0],
	facts: ServiceError['facts'] = {},
	message?: string,
): ServiceError {
	const error = buildError(kind, 'https://api.example', facts);
	return Object.assign(error, message && { message });
}
