import type { TaskService } from '../../api/client';
import { digest } from '../../lib/digest';

/** Identifies a credential's account by a digest, because n8n stores it with the execution. */
export const identifyAccount = ({ credentials: { baseUrl, accessToken } }: TaskService): string =>
	digest([baseUrl, accessToken]);
