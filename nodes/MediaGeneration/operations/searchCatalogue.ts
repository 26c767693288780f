import { UserError } from 'n8n-workflow';
import { findModels } from '../api/catalogue';
import type { TaskService } from '../api/client';
import { isOfKind } from '../api/failure';
import type { CatalogueModel } from '../api/schemas';
import { USE_JSON } from '../models/any/fields';

/**
 * Finds the service's models that have these words.
 * @throws {UserError} when the service has no catalogue
 */
export async function searchCatalogue(
	service: TaskService,
	words?: string,
): Promise<CatalogueModel[]> {
	return await findModels(service, words).catch((error: Error) => {
		if (!isOfKind(error, 'notFound')) throw error;
		throw new UserError('This service lists no models and no fields', {
			description: `If it has a list, set 'Models Path' in the credential. To create a task without it, choose the model By ID, ${USE_JSON}.`,
		});
	});
}
