import type { AnySchemaObject, FuncKeywordDefinition } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { isUuid } from '../../../core/ids.ts';

const addFormats = addFormatsModule.default;

/** The value as text, equal for values that JSON Schema calls equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * `uniqueItems` in linear time: Ajv's own compares each pair of objects, and does so even when `maxItems` has failed
 * already, so one small body could keep the process busy for half a minute.
 */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (unique: boolean, items: unknown[], parent?: AnySchemaObject) =>
    !unique ||
    items.length > Number(parent?.maxItems ?? Infinity) ||
    new Set(items.map(canonical)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
};

/** An Ajv of the document's dialect and formats. */
export function createAjv(options: object = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // The document is linted: checking each schema against the schema of schemas would compile that one first.
    validateSchema: false,
    // Unoptimised code: optimising it takes a third of the compile time at start and makes no measurable difference afterwards.
    code: { optimize: false },
    ...options,
  });
  addFormats(ajv);
  // ajv-formats also takes `urn:uuid:…`, which PostgreSQL does not.
  ajv.addFormat('uuid', { type: 'string', validate: isUuid });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword(uniqueItems);
  return ajv;
}
