/**
 * The words of the brand. Node files, codex and credential have them as literals, because n8n's
 * linter checks literals only. `brand.test` compares them.
 */

export const PACKAGE = 'n8n-nodes-media-generation';

/** The display names. */
export const NODE_NAME = 'Media Generation';
export const TRIGGER_NAME = 'Media Generation Trigger';
export const CREDENTIAL_NAME = 'Media Generation API';

/** The credential's name in workflows. */
export const CREDENTIAL = 'mediaGenerationApi';

/** The brand in a URL. */
export const SLUG = 'media-generation';
