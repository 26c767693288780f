import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	INodeCredentialTestResult,
	UserError,
} from 'n8n-workflow';
import { TaskService } from '../api/client';
import { buildAuthorization, type Credentials } from '../api/credential';
import type { RequestContext } from '../api/exchange';
import { factsOf, isOfKind } from '../api/failure';
import { explainKeyFault, readSigningKeys } from '../callback/signature';

/** A short timeout, because somebody is waiting in front of the screen. */
const TEST_SETTINGS = { timeoutSeconds: 10 };

const WRONG_PATH = "Check 'Base URL' and, with 'Advanced Settings' on, 'Credits Path'.";

const SAVE_ANYWAY = "If only the credits can't be read, save anyway.";

/**
 * Tests a credential by reading the account's credits, and says what to correct. A declarative test
 * would only show Node's error code if the service can't be reached.
 */
export async function testCredential(
	context: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const credentials = data as unknown as Credentials;
	if (/^\s*Bearer\s/i.test(credentials.accessToken))
		return {
			status: 'Error',
			message: '\'Access Token\' begins with "Bearer". Paste the token alone',
		};
	const keys = readSigningKeys(credentials);
	const fault = keys && explainKeyFault(keys);
	if (fault) return { status: 'Error', message: fault };
	try {
		const service = new TaskService(toServiceContext(context, credentials), credentials);
		await service.request('creditsPath', TEST_SETTINGS);
		return { status: 'OK', message: 'Connection successful' };
	} catch (error) {
		return { status: 'Error', message: explainFailure(error as UserError, credentials) };
	}
}

/** Says why the credits couldn't be read, and what to do. */
function explainFailure(error: UserError, { baseUrl }: Credentials): string {
	const isToken = isOfKind(error, 'token');
	const isOfPath = factsOf(error).answeredBy === 'other' || isOfKind(error, 'notFound');
	return [
		// What is probably wrong comes first: n8n folds the rest away.
		(isToken || isOfPath) && explainPath(baseUrl),
		`${error.message}.`,
		isOfPath && WRONG_PATH,
		(isToken || !isOfPath) && error.description,
		!isToken && (isOfPath || isOfKind(error, 'unreadable')) && SAVE_ANYWAY,
	]
		.filter(Boolean)
		.join(' ');
}

function explainPath(baseUrl: string): string {
	const { pathname } = new URL(baseUrl.trim());
	if (pathname === '/') return '';
	return `Remove ${pathname} from 'Base URL', unless your service is below that path: the node appends its own paths.`;
}

/** In the test of a credential, n8n has only an older request helper, which knows no credentials. */
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
