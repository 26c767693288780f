import { run } from 'jest';

/**
 * Runs the end-to-end tests on the oldest n8n that the package works with, or on that of the folder in `dev/n8n` that
 * `MEDIA_GENERATION_N8N` names. Arguments are passed on to Jest.
 */
process.env.MEDIA_GENERATION_N8N ??= 'oldest';
void run(['--selectProjects', 'e2e', 'editor', '--maxWorkers', '2', ...process.argv.slice(2)]);
