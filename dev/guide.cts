import { readExample } from './fixtures/examples.cts';
import { buildCredentialData, type Pair } from './fixtures/pair.cts';

/** The example that shows a finished picture in one click. */
const FIRST = 'make-a-picture';

/** Two examples that make a round: the first creates a task whose callback starts the second. */
const ROUND = { start: 'start-a-task', trigger: 'when-a-task-ends' };

type Started = {
	n8n: Pick<Pair['n8n'], 'url' | 'owner'>;
	service: Pair['service'];
};

/**
 * Says what a person can do with the n8n and the emulator that `npm start` has started.
 * @param ids the IDs of the imported examples, by the names of their files
 */
export function buildGuide({ n8n, service }: Started, ids: Record<string, string>) {
	const link = (example: string) => `${n8n.url}/workflow/${ids[example]}`;
	const { baseUrl, accessToken, webhookSecret } = buildCredentialData(service);
	return `
n8n is ready: ${n8n.url}
  E-mail    ${n8n.owner.email}
  Password  ${n8n.owner.password}

Begin with "${readExample(FIRST).name}": ${link(FIRST)}
  Press "Execute workflow", and open its node: View in the output shows the picture.

A callback that starts a workflow: ${link(ROUND.start)}
  Press "Execute workflow". Some seconds later the finished task is in the Executions of
  ${link(ROUND.trigger)}

The task service is imitated by an emulator. It makes nothing: whatever you ask for, you get sample files.
The examples have a credential for it. To fill in one of your own:
  Base URL          ${baseUrl}
  Access Token      ${accessToken}
  Webhook HMAC Key  ${webhookSecret}

To see what happens when something goes wrong, write a word such as #fail, #slow=30 or #links=dead
into a prompt. dev/service/faults.cts lists all.

Ctrl-C ends n8n and the emulator.
`;
}
