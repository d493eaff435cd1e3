/**
 * Exit codes of commands: 0 done, 1 failed, 2 usage, 3 some recordings ended without a result (`items_failed`), 69 a service is
 * missing (sysexits(3) EX_UNAVAILABLE).
 */
export const exitCodes = { done: 0, failed: 1, usage: 2, unavailable: 69 } as const;
