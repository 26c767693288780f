import type { TaskService } from '../../api/client';
import { digest } from '../../lib/digest';

/** Names the account that a credential opens, without the access token in it: n8n stores it with the execution. */
export const identifyAccount = ({ credentials: { baseUrl, accessToken } }: TaskService): string =>
	digest([baseUrl, accessToken]);
