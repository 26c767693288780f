import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import { buildAuthorization, type Credentials } from '../api/endpoints';
import type { RequestContext } from '../api/exchange';
import type { ServiceError } from '../api/failure';

/** Time for the service to answer: a person is looking on. */
const TEST_SETTINGS = { timeoutSeconds: 10 };

const WRONG_PATH =
	"Check 'Base URL' and, with 'Advanced Settings' on, 'Credits Path'. A service without such a path fails this test, and can be used all the same.";

/**
 * Tests a credential by asking for the account's credits, and says in words what to correct. A test
 * that is only declared gets Node's code from n8n where the service can't be reached.
 */
export async function testCredential(
	context: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const credentials = data as unknown as Credentials;
	try {
		await new TaskService(toServiceContext(context, credentials), credentials).getCredits(
			TEST_SETTINGS,
		);
		return { status: 'OK', message: 'Connection successful' };
	} catch (error) {
		const { message, description, kind, answeredBy } = error as ServiceError;
		const isOfPath = kind !== 'token' && (answeredBy === 'other' || kind === 'notFound');
		const hint = isOfPath ? WRONG_PATH : description;
		return { status: 'Error', message: [message, hint].filter(Boolean).join('. ') };
	}
}

/** In a test, n8n has an older helper for requests only, which knows no credential. */
const toServiceContext = (
	{ helpers }: ICredentialTestFunctions,
	credentials: Credentials,
): RequestContext => ({
	helpers: {
		async httpRequestWithAuthentication(this: unknown, _type, { url, method, headers, timeout }) {
			const answer = (await helpers.request({
				uri: url,
				method,
				headers: { ...headers, Authorization: buildAuthorization(credentials) },
				timeout,
				useStream: true,
				resolveWithFullResponse: true,
				simple: false,
				followRedirect: false,
			})) as { body: { destroy(): void } };
			const signal = (this as RequestContext).getExecutionCancelSignal?.();
			signal?.addEventListener('abort', () => answer.body.destroy());
			return answer;
		},
	},
});
