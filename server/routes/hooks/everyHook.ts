import type { Hook } from './hook.ts';

/** Every hook. */
export const everyHook: readonly Hook[] = [];
