import { type DocumentSchema, readDocument } from '../../core/document.ts';
import { documentSchema, namedSchemas } from '../../core/namedSchemas.ts';

/*
 * The components of generative UI are described once, in the document: its schemas validate trees, and the catalogue for models
 * (catalogue.ts) is made from them. A component with a field that is not listed is refused.
 */

const { propertyName, mapping } = namedSchemas('MessageUi');

/** Names of the components. */
export const COMPONENT_TYPES: readonly string[] = [...mapping.keys()];

/** What each component is for, as models read it. */
export const PURPOSES: Readonly<Record<string, string>> = {
  stack: '',
  card: '',
  heading: '',
  text: 'no HTML',
  list: '',
  table: '',
  keyValue: '',
  image: '',
  link: '',
  button: 'either message, which the user then says, or url',
  divider: '',
  progress: 'percent',
  stat: 'change such as "+3 %"',
  chart: '',
  form: 'options for select only',
};

/** The schema of a component. */
export function componentSchema(type: string): DocumentSchema {
  const name = mapping.get(type);
  if (!name) throw new Error(`There is no component ${type}.`);
  return documentSchema(name);
}

/** The field that holds the address of a component. Only `isHttpsAddress` says whether it may be shown. */
export const ADDRESS_FIELD = 'url';

/**
 * The schemas of the document, with `MessageUi` closed: to clients a component is an open object, whose types may grow; here it has one
 * of the types of today, at every level of the tree.
 */
export function closedSchemas(): Record<string, unknown> {
  return {
    ...readDocument().components.schemas,
    MessageUi: {
      type: 'object',
      required: [propertyName],
      discriminator: { propertyName },
      oneOf: [...mapping.values()].map((name) => ({ $ref: `#/components/schemas/${name}` })),
    },
  };
}

/** Whether a text is an https address as browsers read it, without credentials or characters that mislead a reader. */
export function isHttpsAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  // Parsers accept white space, control characters and backslashes, which a reader takes for something else.
  return /^https:\/\/[^/]/i.test(value) && !/[\s\p{C}\\<>"`{}|^]/u.test(value);
}
