import { currencyDigits } from './currencies.ts';

/** How prices are written where the hub has not said how. */
const DEFAULT_LOCALE = 'en-US';

/** Making a formatter takes longer than using it a hundred times. A tenant chooses the locale, so there is a bound. */
const MAX_FORMATTERS = 500;
const formatters = new Map<string, Intl.NumberFormat>();

/** The ISO 4217 code in upper case for one in any case; undefined when there is no such currency. */
export function currencyOf(code: string): string | undefined {
  // Only ASCII letters: others have capitals in it, too.
  const upper = /^[A-Za-z]{3}$/.test(code) ? code.toUpperCase() : '';
  return currencyDigits(upper) === undefined ? undefined : upper;
}

/**
 * A price for people, with its currency: `cents` are whole units of the smallest kind that ISO 4217 knows for the currency, so that 4900 is
 * `$49.00`, `¥4,900` or `KWD 4.900`. An unknown locale is written as en-US.
 */
export function formatPrice(cents: number | bigint, currency: string, locale: string | null = DEFAULT_LOCALE): string {
  const digits = currencyDigits(currency) ?? 2;
  // A decimal in text: no floating point number comes between (ECMA-402, Intl mathematical values).
  return formatterOf(locale ?? DEFAULT_LOCALE, currency, digits).format(decimal(BigInt(cents), digits));
}

function decimal(cents: bigint, digits: number): Intl.StringNumericLiteral {
  const text = String(cents < 0n ? -cents : cents).padStart(digits + 1, '0');
  const point = text.length - digits;
  const fraction = digits === 0 ? '' : `.${text.slice(point)}`;
  return `${cents < 0n ? '-' : ''}${text.slice(0, point)}${fraction}` as Intl.StringNumericLiteral;
}

function formatterOf(locale: string, currency: string, digits: number): Intl.NumberFormat {
  const key = `${locale} ${currency}`;
  const known = formatters.get(key);
  if (known) return known;
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  const options = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const;
  const made = makeFormatter(locale, options);
  formatters.set(key, made);
  return made;
}

function makeFormatter(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, options);
  } catch {
    return new Intl.NumberFormat(DEFAULT_LOCALE, options);
  }
}
