import type { TestApp } from '../../support/http/app.ts';

/** Bodies that neither `createCreditPackage` nor `updateCreditPackage` accepts, as changes of a good one. */
export const INVALID: [string, object][] = [
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a name of spaces', { name: '   ' }],
  ['a name of 101 characters', { name: 'a'.repeat(101) }],
  ['no amount', { creditsAmount: undefined }],
  ['no credits', { creditsAmount: 0 }],
  ['credits over 2^31', { creditsAmount: 2_147_483_648 }],
  ['half a credit', { creditsAmount: 1.5 }],
  ['no value', { creditValueCents: undefined }],
  ['free credits', { creditValueCents: 0 }],
  ['a value over 2^31', { creditValueCents: 2_147_483_648 }],
  ['a bonus of none', { extraCreditsAmount: 0 }],
  ['a bonus over 2^31', { extraCreditsAmount: 2_147_483_648 }],
  ['a renewal after no month', { renewalIntervalMonths: 0 }],
  ['a renewal after more than ten years', { renewalIntervalMonths: 121 }],
  ['an unknown field', { currency: 'USD' }],
];

/** The values that are just inside. */
export const AT_BOUNDS: [object][] = [
  [
    {
      name: 'é'.repeat(100),
      creditsAmount: 2_147_483_647,
      creditValueCents: 2_147_483_647,
      extraCreditsAmount: 2_147_483_647,
      renewalIntervalMonths: 120,
    },
  ],
  [{ name: '/', creditsAmount: 1, creditValueCents: 1, extraCreditsAmount: 1, renewalIntervalMonths: 1 }],
];

/** The names of all credit packages, newest first. */
export async function packageNames(app: TestApp, key?: string): Promise<string[]> {
  const { body } = await app.api('get', '/billing/credit-packages?limit=100', key).expect(200);
  return body.items.map(({ name }: { name: string }) => name);
}
