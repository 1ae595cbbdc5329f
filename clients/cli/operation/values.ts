import type { CommandField } from '../../../generated/commandTable.ts';
import { usage } from '../failure.ts';
import { parseJson } from '../input.ts';

/** What commander collected for a command: values by the flags' names in camelCase. */
export type Given = Record<string, unknown>;

/**
 * The fields of a request that flags gave, as the document types them: `null` for those that `--null` names.
 * @throws Failure (2) for a value of another type
 */
export function valuesOf(
  fields: readonly CommandField[],
  given: Given,
  nulls: ReadonlySet<string>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value = given[attributeOf(field.flag)];
    if (nulls.has(field.flag)) {
      if (value !== undefined) throw usage(`--null ${field.flag} and --${field.flag} contradict each other.`);
      values[field.name] = null;
    } else if (value !== undefined)
      values[field.name] = field.list ? listOf(field, value as string[]) : oneOf(field, value);
  }
  return values;
}

/** The name under which commander keeps a flag's value: `ai-model-id` → `aiModelId`. */
export function attributeOf(flag: string): string {
  return flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `--tags a --tags b`, or one JSON array: `--tags '[]'` is the only way to say an empty list. */
function listOf(field: CommandField, values: string[]): unknown[] {
  const [first = ''] = values;
  if (values.length === 1 && first.trimStart().startsWith('[')) {
    const list = parseJson(first, `--${field.flag}`);
    if (Array.isArray(list)) return list;
  }
  return values.map((each) => oneOf(field, each));
}

/** A value of any type: what is no JSON is a text, so `"5"` in double quotes is the text and 5 the number. */
function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function oneOf({ flag, type, nullable }: CommandField, value: unknown): unknown {
  if (typeof value !== 'string' || type === 'string') return value;
  if (type === 'any') return jsonOrText(value);
  if (type === 'json') return parseJson(value, `--${flag}`);
  if (nullable && value === 'null') return null;
  const number = Number(value);
  if (type === 'integer' && /^[+-]?\d+$/.test(value) && Number.isSafeInteger(number)) return number;
  if (type === 'number' && value.trim() !== '' && Number.isFinite(number)) return number;
  throw usage(
    `--${flag} takes ${type === 'integer' ? 'a whole number' : 'a number'}, and not ${JSON.stringify(value)}.`,
  );
}
