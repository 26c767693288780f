/**
 * The brand's names. Node files, codex and credential repeat them as literals, because n8n's linter
 * checks only literals. `unit/declaration` compares them.
 */

export const PACKAGE = 'n8n-nodes-media-generation';

/** The display names. */
export const NODE_NAME = 'Media Generation';
export const TRIGGER_NAME = 'Media Generation Trigger';

/** The credential's type, which workflows store. */
export const CREDENTIAL = 'mediaGenerationApi';

/** For URLs. */
export const SLUG = 'media-generation';
