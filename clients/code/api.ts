import type { Guildhall } from '../sdk/index.ts';

/** What the kinds call of the SDK's client, whose retries and limits they share. */
export type Api = Pick<Guildhall, 'call' | 'items'>;
