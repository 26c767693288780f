import type { ILoadOptionsFunctions } from 'n8n-workflow';
import { buildBaseContext } from '../../world/contexts.cts';
import { openAccount } from '../corpus';

/** Opens the node's panel with these parameters, for an account that nobody used before. */
export function openPanel(parameters: Record<string, unknown>, answer?: (path: string) => object) {
	const { requests, ...account } = openAccount(answer);
	const context = buildBaseContext<ILoadOptionsFunctions>(
		{ node: { name: 'Media Generation' }, ...account },
		{ getCurrentNodeParameter: (name: string) => parameters[name] },
	);
	return { context, requests };
}
