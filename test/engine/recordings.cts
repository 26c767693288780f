import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '..', 'recorded');

interface Creation {
	request: { model: string; input: object };
}

/** Lists what `npm run probe` has recorded of services, with the task that was created in each. */
export const recordings = readdirSync(folder)
	.map((name) => ({ name, recorded: join(folder, name) }))
	.filter(({ recorded }) => existsSync(join(recorded, 'create.json')))
	.map((one) => ({
		...one,
		...(JSON.parse(readFileSync(join(one.recorded, 'create.json'), 'utf8')) as Creation).request,
	}));
