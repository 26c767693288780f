/** The mapper's entry whose value `true` says that the chosen model takes no prompt. The editor doesn't show it. */
export const NO_PROMPT = '$noPrompt';
