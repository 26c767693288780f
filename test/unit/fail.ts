import { ServiceError, type Failure } from '../../nodes/MediaGeneration/api/failure';

/** The error after a failure of this kind. By default nobody answered, and nothing is certain. */
export const fail = (kind: Failure['kind'], facts: Partial<Failure> = {}) =>
	new ServiceError({ kind, certain: false, origin: 'https://api.example', detail: '', ...facts });
