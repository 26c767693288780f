/** How many seconds the time stamp of a callback may differ from the time here, where the user sets nothing else. */
export const TOLERANCE_SECONDS = 300;
