import { allows } from './contract.ts';
import type { Rule, Schema } from './types.ts';

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * Every number says how wide it is: an `integer` is `int32` or `int64`, a `number` is `double`. Generators of typed languages choose the
 * type by it: without a format one takes 32 bits and another 64. Bounds must be within the format, because the server checks the
 * bounds of a request and not its formats of numbers.
 */
export const numberFormats: Rule = () => ({
  Schema(schema, { report, location }) {
    const wanted = formatsOf(schema);
    if (wanted && !wanted.includes(String(schema.format)))
      report({ message: `A number needs a format: ${wanted.join(' or ')}.`, location });
    if (schema.format !== 'int32') return;
    for (const keyword of ['minimum', 'maximum'] as const) {
      const bound = Number(schema[keyword] ?? 0);
      if (bound < INT32.minimum || bound > INT32.maximum)
        report({ message: `\`${keyword}\` is beyond int32: write int64.`, location: location.child(keyword) });
    }
  },
});

function formatsOf(schema: Schema): string[] | undefined {
  if (allows(schema, 'number')) return ['double'];
  return allows(schema, 'integer') ? ['int32', 'int64'] : undefined;
}
