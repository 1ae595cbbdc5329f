import type { AnySchemaObject, FuncKeywordDefinition } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { isUuid } from './ids.ts';

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

/** `x-max-json-length`: the most characters of a value as JSON. */
const maxJsonLength: FuncKeywordDefinition = {
  keyword: 'x-max-json-length',
  schemaType: 'number',
  validate: (max: number, value: unknown) => JSON.stringify(value).length <= max,
  error: { message: ({ schema }) => `must not have more than ${schema} characters as JSON` },
};

/** Errors after which a validator of `createRequestAjv` looks no further: an answer lists fewer, and some of them only explain others. */
const ENOUGH_ERRORS = 100;
/** The loops of Ajv's code over the properties and items of a value. */
const LOOP = /for\((?:const key\d+ in data\d*|let (i\d+)=\d+; \1<len\d+; \1\+\+)\)\{/g;

/**
 * Ajv's code, with loops that end when there are enough errors. By then the value, or the alternative of it that the loop belongs to, is
 * invalid, so the outcome stays as it is.
 */
function withEarlyEnd(code: string): string {
  return code.replace(LOOP, `$&if(errors>=${ENOUGH_ERRORS})break;`);
}

/** `contains` counts the items that are valid: after many invalid ones the early end would miss the valid one. */
const noContains: FuncKeywordDefinition = {
  keyword: 'contains',
  compile() {
    throw new Error('Schemas of requests cannot have the keyword contains (core/ajv.ts).');
  },
};

/** An Ajv of the document's dialect, formats and keywords. */
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
  ajv.addKeyword(maxJsonLength);
  return ajv;
}

/** An Ajv as `createAjv` makes it, for what comes in: a value with very many errors costs no more than one with a hundred. */
export function createRequestAjv(options: object = {}): Ajv2020 {
  const ajv = createAjv({ code: { optimize: false, process: withEarlyEnd }, ...options });
  ajv.removeKeyword('contains');
  ajv.addKeyword(noContains);
  // The bounds say it, in their own words: with the format too, a number out of range would be refused twice.
  for (const width of ['int32', 'int64', 'double']) ajv.addFormat(width, true);
  return ajv;
}
