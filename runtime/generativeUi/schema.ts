/*
 * The components of generative UI, described once: this schema validates trees, and the catalogue for models (catalogue.ts) is made
 * from it. A component with a field that is not listed is refused.
 */

type Schema = Record<string, unknown>;

const string = (maxLength: number, description?: string): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  ...(description === undefined ? {} : { description }),
});
const label = string(200);
const text = string(10_000);
/** See `isHttpsAddress`. */
const address: Schema = { type: 'string', maxLength: 2_000, format: 'https-address' };
const choice = (...values: string[]): Schema => ({ type: 'string', enum: values });
const list = (items: Schema, maxItems: number): Schema => ({ type: 'array', items, minItems: 1, maxItems });
const scalar: Schema = { type: ['string', 'number', 'boolean', 'null'], maxLength: 1_000 };

const NODE: Schema = { $ref: '#/$defs/node' };

/** An object with these fields and no others. `?` after a name makes the field optional. */
function closed(fields: Record<string, Schema>): Schema {
  const names = Object.keys(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), fields[name]])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  };
}

const COMPONENTS: Readonly<Record<string, Record<string, Schema>>> = {
  stack: { children: list(NODE, 50), 'direction?': choice('vertical', 'horizontal') },
  card: { children: list(NODE, 50), 'title?': label },
  heading: { text: label, 'level?': { type: 'integer', minimum: 1, maximum: 3 } },
  text: { text, 'format?': choice('plain', 'markdown') },
  list: { items: list(string(1_000), 100), 'ordered?': { type: 'boolean' } },
  table: { columns: list(label, 12), rows: { type: 'array', items: list(scalar, 12), maxItems: 100 } },
  keyValue: { items: list(closed({ key: label, value: scalar }), 50) },
  image: { url: address, alt: string(500) },
  link: { url: address, text: label },
  button: { label, 'message?': string(1_000), 'url?': address },
  divider: {},
  progress: { value: { type: 'number', minimum: 0, maximum: 100 }, 'label?': label },
  stat: { label, value: { type: ['string', 'number'], maxLength: 100 }, 'change?': string(100) },
  chart: {
    kind: choice('bar', 'line'),
    series: list(
      closed({ name: label, points: list(closed({ label: string(100), value: { type: 'number' } }), 100) }),
      5,
    ),
    'title?': label,
  },
  form: {
    inputs: list(
      closed({
        name: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_]{0,49}$' },
        label,
        kind: choice('text', 'multiline', 'number', 'date', 'email', 'checkbox', 'select'),
        'required?': { type: 'boolean' },
        'options?': list(label, 50),
      }),
      20,
    ),
    'title?': label,
    'submitLabel?': label,
  },
};

/** What each component is for, as models read it. */
export const PURPOSES: Readonly<Record<string, string>> = {
  stack: 'puts components below or beside one another',
  card: 'a framed group',
  heading: '',
  text: 'plain if no format is given; markdown without HTML',
  list: '',
  table: 'each row has a cell for each column',
  keyValue: '',
  image: '',
  link: '',
  button: 'has either message, sent as what the user says next, or url, which is opened',
  divider: '',
  progress: 'value in percent',
  stat: 'one figure; change such as "+3 %"',
  chart: '',
  form: 'sent as what the user says next, a line for each input; options for kind select only',
};

/** Names of the components. */
export const COMPONENT_TYPES: readonly string[] = Object.keys(COMPONENTS);

function component(type: string, fields: Record<string, Schema>): Schema {
  const schema = closed({ type: { const: type }, ...fields });
  if (type !== 'button') return schema;
  return { ...schema, oneOf: [{ required: ['message'] }, { required: ['url'] }] };
}

/** JSON Schema (draft 2020-12, with `discriminator` as in OpenAPI) of a tree of components. */
export const UI_SCHEMA = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      required: ['type'],
      discriminator: { propertyName: 'type' },
      oneOf: COMPONENT_TYPES.map((type) => ({ $ref: `#/$defs/${type}` })),
    },
    ...Object.fromEntries(Object.entries(COMPONENTS).map(([type, fields]) => [type, component(type, fields)])),
  },
} satisfies Schema;

/** Whether a text is an https address as browsers read it, without credentials or characters that mislead a reader. */
export function isHttpsAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  // Parsers accept white space, control characters and backslashes, which a reader takes for something else.
  return /^https:\/\/[^/]/i.test(value) && !/[\s\p{C}\\<>"`{}|^]/u.test(value);
}
