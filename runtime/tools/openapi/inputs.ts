import { inputSchemaFaults } from '../configuration/inputSchema.ts';
import type { JsonSchema } from '../tool.ts';
import type { BodyContent } from './content.ts';
import { BadDocument, type Fields, type Located } from './document.ts';
import type { DocumentParameter } from './parameters.ts';
import { SchemaCollector, type SchemaDetail, TooMuchSchema } from './schemas.ts';
import { fieldText } from './texts.ts';

/** Characters of JSON that the schema of an endpoint's inputs should have: 2,500 tokens. Details are left out until it has. */
const WANTED_SCHEMA_CHARS = 10_000;
/** Characters of JSON that it must not have more of. A larger one is too much for a model, and takes over 100 ms to compile. */
const MAX_SCHEMA_CHARS = 32_768;
/** Characters that are converted at most. A part of them is left out of the schema. */
const MAX_CONVERTED_CHARS = 8 * MAX_SCHEMA_CHARS;

const ALL = Number.POSITIVE_INFINITY;
/** What is kept of the schemas. The next one is tried while the schema of the inputs is too large. */
const DETAILS: readonly Omit<SchemaDetail, 'maxChars'>[] = [
  { levels: ALL, references: ALL, descriptionChars: 300, enumValues: 200 },
  { levels: ALL, references: ALL, descriptionChars: 160, enumValues: 60 },
  { levels: 4, references: 6, descriptionChars: 120, enumValues: 40 },
  { levels: 3, references: 4, descriptionChars: 120, enumValues: 40 },
  { levels: 3, references: 4, descriptionChars: 80, enumValues: 40 },
  { levels: 2, references: 3, descriptionChars: 120, enumValues: 40 },
  { levels: 2, references: 3, descriptionChars: 80, enumValues: 20 },
  { levels: 1, references: 2, descriptionChars: 120, enumValues: 20 },
  { levels: 1, references: 2, descriptionChars: 80, enumValues: 20 },
  { levels: 0, references: 1, descriptionChars: 80, enumValues: 10 },
  { levels: 0, references: 0, descriptionChars: 0, enumValues: 10 },
];

/** A parameter with the field of the inputs that has its value. */
export type NamedParameter = DocumentParameter & { input: string };

/** A name for each input, of characters that models may use: the parameter's own unless another input has it. */
export function nameInputs(found: readonly DocumentParameter[], hasBody: boolean): NamedParameter[] {
  const taken = new Set(['operationId', ...(hasBody ? ['body'] : [])]);
  const counts = new Map<string, number>();
  return found.map((each) => {
    const plain = each.name.replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 50);
    const second = `${each.in}_${plain}`;
    let input = taken.has(plain) ? second : plain;
    while (taken.has(input)) {
      const count = counts.get(second) ?? 2;
      counts.set(second, count + 1);
      input = `${second}_${count}`;
    }
    taken.add(input);
    return { ...each, input };
  });
}

/**
 * The schema of the inputs of an operation: as much of what the document says as 2,500 tokens hold. What a model is not told about may be
 * given all the same. Throws BadDocument.
 */
export function inputsOf(
  document: Fields,
  operation: Located<Fields>,
  parameters: readonly NamedParameter[],
  body: BodyContent | null,
): JsonSchema {
  let smallest: { schema: JsonSchema; chars: number } | undefined;
  for (const detail of DETAILS) {
    const collector = new SchemaCollector(document, { ...detail, maxChars: MAX_CONVERTED_CHARS });
    const schema = schemaOfInputs(collector, parameters, body, detail.descriptionChars);
    if (schema === undefined) continue;
    const chars = JSON.stringify(schema).length;
    if (smallest === undefined || chars < smallest.chars) smallest = { schema, chars };
    if (chars <= WANTED_SCHEMA_CHARS) break;
  }
  if (smallest === undefined || smallest.chars > MAX_SCHEMA_CHARS) {
    throw new BadDocument('takes inputs that are too large to describe', operation.steps);
  }
  const [fault] = inputSchemaFaults(smallest.schema, '');
  if (fault === undefined) return smallest.schema;
  throw new BadDocument(`takes inputs that make no JSON Schema: ${fault.path} ${fault.message}`, operation.steps);
}

/** The schema of all inputs; undefined when it is larger than the collector converts. */
function schemaOfInputs(
  collector: SchemaCollector,
  parameters: readonly NamedParameter[],
  body: BodyContent | null,
  descriptionChars: number,
): JsonSchema | undefined {
  try {
    const asked = parameters.filter(({ fixed }) => fixed === undefined);
    const properties = asked.map(({ input, schema, description }): [string, JsonSchema] => {
      const text = fieldText(description, descriptionChars);
      return [
        input,
        { ...collector.convert(schema.value, schema.steps), ...(text === '' ? {} : { description: text }) },
      ];
    });
    if (body) properties.push(['body', collector.convert(body.schema.value, body.schema.steps)]);
    const converted = Object.fromEntries(properties);
    const required = [
      // An input with a default gets it when it is left out (`useDefaults` of the validator).
      ...asked
        .filter((each) => each.required && converted[each.input]?.default === undefined)
        .map(({ input }) => input),
      ...(body?.required ? ['body'] : []),
    ];
    const definitions = collector.definitions();
    return {
      type: 'object',
      properties: converted,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
      ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}),
    };
  } catch (error) {
    if (error instanceof TooMuchSchema) return undefined;
    throw error;
  }
}
