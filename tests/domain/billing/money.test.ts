import { currencyDigits } from '../../../domain/billing/currencies.ts';
import { currencyOf, formatPrice } from '../../../domain/billing/money.ts';

/** Intl writes a narrow or a plain no-break space between number and currency: which one is not what is tested. */
const plain = (text: string) => text.replace(/\s/g, ' ');

describe('a price has the digits of its currency (ISO 4217)', () => {
  test.each([
    [4900, 'USD', 'en-US', '$49.00'],
    [4900, 'JPY', 'en-US', '¥4,900'],
    [4900, 'KWD', 'en-US', 'KWD 4.900'],
    // Intl alone would write these without their digits.
    [4900, 'IQD', 'en-US', 'IQD 4.900'],
    [4900, 'MMK', 'en-US', 'MMK 49.00'],
    [4900, 'EUR', 'de-DE', '49,00 €'],
    [4900, 'BRL', 'pt-BR', 'R$ 49,00'],
    [5, 'USD', 'en-US', '$0.05'],
    [0, 'USD', 'en-US', '$0.00'],
    [0, 'JPY', 'en-US', '¥0'],
    [1, 'KWD', 'en-US', 'KWD 0.001'],
    [-5, 'USD', 'en-US', '-$0.05'],
    [2_147_483_647, 'USD', 'en-US', '$21,474,836.47'],
    [9_007_199_254_740_993n, 'USD', 'en-US', '$90,071,992,547,409.93'],
  ])('%s %s in %s: %s', (cents, currency, locale, text) => {
    expect(plain(formatPrice(cents, currency, locale))).toBe(text);
  });

  test.each([null, undefined, 'no locale at all', ''])(
    'without a locale that exists (%j) it is written in en-US',
    (locale) => {
      expect(formatPrice(4900, 'USD', locale)).toBe('$49.00');
    },
  );
});

test.each([
  ['USD', 'USD'],
  ['jpy', 'JPY'],
  ['Kwd', 'KWD'],
])('%s is the currency %s', (code, currency) => {
  expect(currencyOf(code)).toBe(currency);
});

test.each(['XYZ', 'AAA', 'XXX', 'XTS', 'XAU', 'DEM', 'HRK', 'CLF', 'US', '', '$$$', 'ſEK'])(
  '%s is no currency',
  (code) => {
    expect(currencyOf(code)).toBeUndefined();
  },
);

test('of the currencies that Intl lists, only former ones and units of account are unknown', () => {
  const unknown = Intl.supportedValuesOf('currency').filter((code) => currencyDigits(code) === undefined);
  expect(unknown).toEqual(['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'XDR', 'XSU', 'ZWL']);
});
