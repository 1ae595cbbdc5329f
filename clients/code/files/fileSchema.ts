import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Kind } from '../kind.ts';

/** Name of the field that tells the former name of a thing. It is no part of the thing, and may go once it was applied everywhere. */
export const RENAMED_FROM = 'renamedFrom';

/** The JSON Schema of a whole YAML file of a kind, as editors and the engine use it. */
export function fileSchemaOf(kind: Kind): JsonObject {
  const { form } = kind.layout;
  if (form === 'single') return kind.schema;
  const nameField = kind.nameField ?? 'name';
  const { properties, required } = kind.schema;
  const item: JsonObject = {
    ...kind.schema,
    required: [nameField, ...(Array.isArray(required) ? required : [])],
    properties: {
      [nameField]: {
        type: 'string',
        minLength: 1,
        pattern: '\\S',
        description: 'What the thing is called. A name that changes here is a new name of the same thing.',
      },
      [RENAMED_FROM]: {
        type: 'string',
        minLength: 1,
        description: 'The former name, where name and file changed at once. It may go when it was applied everywhere.',
      },
      ...(isJsonObject(properties) ? properties : {}),
    },
  };
  return form === 'list' ? { type: 'array', items: item } : item;
}

/** A place in a file that the schema does not allow. */
export interface SchemaFault {
  at: (string | number)[];
  message: string;
}

const validators = new Map<JsonObject, ValidateFunction>();
let ajv: Ajv2020 | undefined;

/** What a schema finds wrong in a value, in sentences; one for each place. */
export function schemaFaults(schema: JsonObject, value: JsonValue): SchemaFault[] {
  let validate = validators.get(schema);
  if (!validate) {
    // Formats are the service's to check: it knows them all, and says what is wrong.
    ajv ??= new Ajv2020({ strict: false, allErrors: true, validateFormats: false, verbose: true });
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  if (validate(value)) return [];
  const faults = new Map<string, SchemaFault>();
  for (const error of telling(validate.errors ?? [])) {
    // What is wrong inside of it has an error of its own.
    if (error.keyword === 'if') continue;
    const fault = faultOf(error);
    const place = JSON.stringify(fault.at);
    if (!faults.has(place)) faults.set(place, fault);
  }
  return [...faults.values()].slice(0, 50);
}

/** Errors that say what is the case even where another form is allowed: the others only say that it is not that other form. */
const TELLING = ['additionalProperties', 'required', 'unevaluatedProperties'];

/** Of a value with several allowed forms: what is wrong deepest inside of the form that it comes nearest to. */
function telling(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = [...errors];
  for (const choice of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const isWithin = (error: ErrorObject) => error === choice || error.schemaPath.startsWith(`${choice.schemaPath}/`);
    const branches = left.filter((error) => error !== choice && isWithin(error));
    const deeper = branches.filter(({ instancePath }) => instancePath.length > choice.instancePath.length);
    const named = branches.filter(({ keyword }) => TELLING.includes(keyword));
    const kept = deeper.length > 0 ? deeper : named.length > 0 ? named : [choice];
    left = left.filter((error) => !isWithin(error) || kept.includes(error));
  }
  return left;
}

function faultOf(error: ErrorObject): SchemaFault {
  const at: (string | number)[] = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const field = at.at(-1);
  const what = field === undefined ? 'This' : typeof field === 'number' ? 'The item' : `\`${field}\``;
  const { params, keyword, parentSchema } = error;
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const unknown = String(params.additionalProperty ?? params.unevaluatedProperty);
    const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
    const near = known.find((name) => isNear(name, unknown));
    return {
      at: [...at, unknown],
      message: `there is no field \`${unknown}\` here.${near ? ` Did you mean \`${near}\`?` : ''}`,
    };
  }
  if (keyword === 'required') return { at, message: `the field \`${params.missingProperty}\` is missing.` };
  if (keyword === 'enum')
    return { at, message: `${what} must be one of ${(params.allowedValues as unknown[]).map(shown).join(', ')}.` };
  if (keyword === 'const') return { at, message: `${what} must be ${shown(params.allowedValue)}.` };
  if (keyword === 'type') return { at, message: `${what} must be ${[params.type].flat().join(' or ')}.` };
  if (keyword === 'pattern') return { at, message: `${what} must match ${params.pattern}.` };
  if (keyword === 'anyOf' || keyword === 'oneOf')
    return { at, message: `${what} has none of the forms that are allowed here.` };
  return { at, message: `${what} ${error.message}.` };
}

function shown(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** Whether two names differ by case and separators, or by at most two letters. */
function isNear(left: string, right: string): boolean {
  const [from, to] = [left, right].map((name) => name.toLowerCase().replaceAll(/[-_ ]/g, '')) as [string, string];
  if (from === to) return true;
  if (Math.abs(from.length - to.length) > 2 || Math.min(from.length, to.length) < 4) return false;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++)
      next[column] = Math.min(
        (row[column] as number) + 1,
        (next[column - 1] as number) + 1,
        (row[column - 1] as number) + (from[line - 1] === to[column - 1] ? 0 : 1),
      );
    row = next;
  }
  return (row[to.length] as number) <= 2;
}
