import { documentSchema, type SchemaName } from '../../core/namedSchemas.ts';
import { ADDRESS_FIELD, COMPONENT_TYPES, componentSchema, PURPOSES } from './schema.ts';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  not?: { type: string[] };
  items?: Schema;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

const SCALARS = ['string', 'number', 'boolean', 'null'];

/** A short notation for a schema: `0..100`, `[component]`, `{label, value: number}`, `vertical|horizontal`. */
function shape(schema: Schema): string {
  const { $ref, enum: values, type, not, items, minimum, maximum } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) as SchemaName;
    return name === 'MessageUi' ? 'component' : shape(documentSchema(name) as Schema);
  }
  if (values !== undefined) return values.join('|');
  if (not !== undefined) {
    const kinds = SCALARS.filter((each) => !not.type.includes(each));
    return kinds.length === SCALARS.length ? 'scalar' : kinds.map(word).join('|');
  }
  if (items !== undefined) return `[${shape(items)}]`;
  if (type === 'object') return `{${fields(schema)}}`;
  return minimum === undefined ? word(String(type)) : `${minimum}..${maximum}`;
}

function word(type: string): string {
  return type === 'string' ? 'text' : type;
}

function fields({ properties = {}, required = [] }: Schema): string {
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => {
      const value = name === ADDRESS_FIELD ? 'https' : shape(schema);
      const optional = required.includes(name) ? '' : '?';
      // Most fields are text: only the others say what they are.
      return value === 'text' ? `${name}${optional}` : `${name}${optional}: ${value}`;
    })
    .join(', ');
}

/** All components with their fields, one on each line, as models read them. */
export function catalogueText(): string {
  return COMPONENT_TYPES.map((type) => {
    const purpose = PURPOSES[type] ? ` (${PURPOSES[type]})` : '';
    const list = fields(componentSchema(type) as Schema);
    return `${type}${list === '' ? '' : ` {${list}}`}${purpose}`;
  }).join('\n');
}
