import type { ErrorObject, FuncKeywordDefinition, SchemaValidateFunction, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { components } from '../generated/api.ts';
import { createRequestAjv } from './ajv.ts';
import { type DocumentSchema, type OpenApiDocument, readDocument } from './document.ts';
import type { ErrorDetail } from './errors.ts';
import { MAX_FAULTS, toFaults } from './faults.ts';
import { pointerKey } from './jsonPointer.ts';

/*
 * Some objects of the document depend on the value of a field. In the document such an object is open, and `x-schemas` on it names the
 * schema for each value. A request with the object passes whatever it holds; here it is checked against its schema, by the operations
 * that have an error code of their own for it.
 */

/** The name of a schema of the document. */
export type SchemaName = keyof components['schemas'];

/** The schemas of an open object. */
export interface NamedSchemas {
  /** The field that says which schema counts: one of the object itself, or of the object around it. */
  propertyName: string;
  /** The names of the schemas by the value of the field. */
  mapping: ReadonlyMap<string, SchemaName>;
}

/** A schema of the document, its references in place. */
export function documentSchema(name: SchemaName): DocumentSchema {
  const schema = readDocument().components.schemas[name];
  if (!schema) throw new Error(`The document has no schema ${name}.`);
  return schema;
}

/** The schemas that the open object `name` of the document has. Throws when it has none. */
export function namedSchemas(name: SchemaName): NamedSchemas {
  const named = documentSchema(name)['x-schemas'];
  if (!named) throw new Error(`The schema ${name} names no others.`);
  const names = Object.entries(named.mapping).map(
    ([value, { $ref }]) => [value, $ref.split('/').at(-1) as SchemaName] as const,
  );
  return { propertyName: named.propertyName, mapping: new Map(names) };
}

/**
 * The document with the name of the open object as the value of each `x-schemas`, which `namedSchemasKeyword` reads. The references would
 * lead in circles: openapi-backend puts schemas in their place.
 */
export function withNamesOfSchemas(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [
    name,
    schema['x-schemas'] ? { ...schema, 'x-schemas': name } : schema,
  ]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
}

let ajv: Ajv2020 | undefined;

/** The validator of a schema of the document, compiled at the first call. */
export function schemaValidator(name: SchemaName): ValidateFunction {
  if (!ajv) {
    ajv = createRequestAjv({ ownProperties: true }).addKeyword(namedSchemasKeyword);
    ajv.addSchema({ components: { schemas: withNamesOfSchemas(readDocument()).components.schemas } }, 'document');
  }
  const reference = `document#/components/schemas/${name}`;
  const validate = ajv.getSchema(reference);
  if (!validate) throw new Error(`The document has no schema ${name}.`);
  return validate;
}

/** An object that was checked against its schema. */
export interface CheckedForm<Form> {
  /** The object as it came. */
  given: Record<string, unknown>;
  faults: ErrorDetail[];
  /** The fields without a fault, for rules that a schema cannot state; none when there are more faults than one answer lists. */
  sound: Partial<Form>;
}

/**
 * The errors that say something of their own. The two of `anyOf` a schema or null only repeat that the value does not fit the schema, and a
 * value of a wrong type is no value of a list either.
 */
function clearErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const own = errors.filter(({ keyword, params }) => keyword !== 'anyOf' && params.type !== 'null');
  const mistyped = new Set(own.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return own.filter(({ keyword, instancePath }) => keyword !== 'enum' || !mistyped.has(instancePath));
}

/**
 * Checks an object against the schema that the open object `name` has for `value`. `path` is the JSON Pointer of the object in the
 * request.
 */
export function checkForm<Form>(
  name: SchemaName,
  value: string,
  given: Record<string, unknown>,
  path: string,
): CheckedForm<Form> {
  const schema = namedSchemas(name).mapping.get(value);
  if (!schema) throw new Error(`The schema ${name} names none for ${value}.`);
  const validate = schemaValidator(schema);
  if (validate(given)) return { given, faults: [], sound: given as Partial<Form> };
  const faults = toFaults(clearErrors(validate.errors ?? []), path);
  if (faults.length >= MAX_FAULTS) return { given, faults, sound: {} };
  const faulty = faults.map((fault) => pointerKey(fault.path.slice(path.length + 1).split('/', 1)[0] ?? ''));
  const fields = Object.entries(given).filter(([field]) => !faulty.includes(field));
  return { given, faults, sound: Object.fromEntries(fields) as Partial<Form> };
}

/**
 * `x-schemas` as a keyword of Ajv: an object must fit the schema that the document names for it, unless its kind has none. For schemas
 * as `withNamesOfSchemas` makes them.
 */
export const namedSchemasKeyword: FuncKeywordDefinition = {
  keyword: 'x-schemas',
  type: 'object',
  schemaType: 'string',
  errors: 'full',
  compile(name: SchemaName) {
    const { propertyName, mapping } = namedSchemas(name);
    const check: SchemaValidateFunction = (value: Record<string, unknown>, at) => {
      const around = at?.parentData as Record<string, unknown> | undefined;
      const schema = mapping.get(String(value[propertyName] ?? around?.[propertyName]));
      if (schema === undefined) return true;
      const validate = schemaValidator(schema);
      if (validate(value)) return true;
      check.errors = (validate.errors ?? []).map((error) => ({
        ...error,
        instancePath: `${at?.instancePath}${error.instancePath}`,
      }));
      return false;
    };
    return check;
  },
};
