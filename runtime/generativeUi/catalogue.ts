import { COMPONENT_TYPES, PURPOSES, UI_SCHEMA } from './schema.ts';

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; items?: Schema; required?: string[] };

const components = UI_SCHEMA.$defs as Record<string, Schema>;

/** A short notation for a schema: `text`, `number 0..100`, `[component]`, `{label, value: number}`, `vertical|horizontal`. */
function shape(schema: Schema): string {
  const { $ref, enum: values, type, format, items, minimum, maximum } = schema;
  if ($ref !== undefined) return 'component';
  if (Array.isArray(values)) return values.join('|');
  if (items !== undefined) return `[${shape(items)}]`;
  if (type === 'object') return `{${fields(schema)}}`;
  if (format !== undefined) return 'https address';
  if (Array.isArray(type)) return type.map((each) => (each === 'string' ? 'text' : each)).join('|');
  if (type === 'string') return 'text';
  return minimum === undefined ? String(type) : `${type} ${minimum}..${maximum}`;
}

function fields({ properties = {}, required = [] }: Schema): string {
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${shape(schema)}`)
    .join(', ');
}

/** All components with their fields, one on each line, as models read them. */
export function catalogueText(): string {
  return COMPONENT_TYPES.map((type) => {
    const purpose = PURPOSES[type] ? ` (${PURPOSES[type]})` : '';
    return `${type} {${fields(components[type] ?? {})}}${purpose}`;
  }).join('\n');
}
