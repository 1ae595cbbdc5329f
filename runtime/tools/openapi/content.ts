import type { WrittenAs } from '../../../db/stored/importedEndpoint.ts';
import { type BodyForm, bodyFormOf } from './bodies.ts';
import { BadDocument, type Fields, isFields, type Located, objectAt } from './document.ts';

/** The content of a request body that calls send. */
export interface BodyContent {
  type: string;
  schema: Located;
  required: boolean;
  /** How fields of a form are written where the document says so. */
  fields: Record<string, WrittenAs>;
}

/** Which content is taken where there are several. */
const PREFERENCE: readonly BodyForm[] = ['json', 'form', 'multipart', 'text'];
/** Ranges of media types that JSON is one of: all writing operations of Kubernetes take them. */
const ANY_TYPE = /^(?:\*|application)\/\*$/;
/** The styles of fields of a form (OpenAPI 3.1, 4.8.15.1). */
const STYLES = ['form', 'spaceDelimited', 'pipeDelimited', 'tabDelimited', 'deepObject'] as const;
/** Fields of a form whose encoding is kept: as many as a schema can describe. */
const MAX_FIELDS = 1_000;

/**
 * The content of an operation's body: application/json if the document has it, then other JSON, forms, text; JSON where any type will do.
 * null when there is none that can be sent and none is required. Throws BadDocument when one is required.
 */
export function contentOf(document: Fields, operation: Located<Fields>): BodyContent | null {
  if (operation.value.requestBody === undefined) return null;
  const body = objectAt(document, { value: operation.value.requestBody, steps: [...operation.steps, 'requestBody'] });
  const content = isFields(body.value.content) ? body.value.content : {};
  const required = body.value.required === true;
  const type = preferred(Object.keys(content));
  if (type === undefined) {
    if (!required) return null;
    throw new BadDocument('must take JSON, a form or text: other bodies are not supported', [...body.steps, 'content']);
  }
  const media = objectAt(document, { value: content[type], steps: [...body.steps, 'content', type] });
  const schema = { value: media.value.schema, steps: [...media.steps, 'schema'] };
  if (ANY_TYPE.test(type)) return { type: 'application/json', schema, required, fields: {} };
  const form = bodyFormOf(type);
  if (form === 'json' || form === 'text') return { type, schema, required, fields: {} };
  const fields = fieldsOf(media);
  return { type, schema: form === 'multipart' ? withoutFiles(document, schema) : schema, required, fields };
}

function preferred(types: readonly string[]): string | undefined {
  const plain = types.find((type) => /^application\/json\s*(?:;|$)/i.test(type));
  if (plain !== undefined) return plain;
  for (const form of PREFERENCE) {
    const type = types.find((each) => bodyFormOf(each) === form);
    if (type !== undefined) return type;
  }
  return types.find((type) => ANY_TYPE.test(type));
}

function fieldsOf({ value: { encoding }, steps }: Located<Fields>): Record<string, WrittenAs> {
  const fields: [string, WrittenAs][] = [];
  for (const [name, said] of Object.entries(isFields(encoding) ? encoding : {}).slice(0, MAX_FIELDS)) {
    if (!isFields(said)) continue;
    const written = styleOf(said, [...steps, 'encoding', name]) ?? mediaOf(said.contentType);
    if (written) fields.push([name, written]);
  }
  return Object.fromEntries(fields);
}

/**
 * The style of a field. Where a document has one, its `contentType` is ignored (OpenAPI 3.1.2, Encoding Object). OpenAPI 3.0 ignores styles of multipart
 * forms; documents that have some mean them, as Swagger UI does.
 */
function styleOf(said: Fields, steps: Located['steps']): WrittenAs | undefined {
  if ([said.style, said.explode, said.allowReserved].every((each) => each === undefined)) return undefined;
  const style = STYLES.find((each) => each === (said.style ?? 'form'));
  if (style === undefined) throw new BadDocument(`must be one of ${STYLES.join(', ')}`, [...steps, 'style']);
  const explode = typeof said.explode === 'boolean' ? said.explode : style === 'form';
  return { style, explode, ...(said.allowReserved === true ? { allowReserved: true } : {}) };
}

/** A media type without what could end its line. */
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:\s?;\s?[\w-]{1,50}=[\w.+-]{1,50})?$/;

/** A field of which only the media type is told: the first of them. Plain text is what a field is anyway. */
function mediaOf(contentType: unknown): WrittenAs | undefined {
  const media = typeof contentType === 'string' ? (contentType.split(',', 1)[0] ?? '').trim() : '';
  if (!MEDIA_TYPE.test(media) || media === 'text/plain') return undefined;
  if (bodyFormOf(media) !== 'json') return { style: 'form', explode: true, contentType: media };
  return { style: 'json', explode: false, ...(media === 'application/json' ? {} : { contentType: media }) };
}

/** The schema of a multipart form without the fields that take files. Throws BadDocument when one of them is required. */
function withoutFiles(document: Fields, located: Located): Located {
  if (!isFields(located.value)) return located;
  const { value, steps } = objectAt(document, located);
  if (!isFields(value.properties)) return { value, steps };
  const required = new Set(Array.isArray(value.required) ? value.required : []);
  const kept: [string, unknown][] = [];
  for (const [name, property] of Object.entries(value.properties)) {
    if (!isFile(document, { value: property, steps: [...steps, 'properties', name] })) kept.push([name, property]);
    else if (required.has(name)) {
      throw new BadDocument('takes a file: files are not supported', [...steps, 'properties', name]);
    }
  }
  return { value: { ...value, properties: Object.fromEntries(kept) }, steps };
}

function isFile(document: Fields, located: Located): boolean {
  if (!isFields(located.value)) return false;
  const { value, steps } = objectAt(document, located);
  if (value.type === 'array') return isFile(document, { value: value.items, steps: [...steps, 'items'] });
  if (value.type === 'file' || value.format === 'binary') return true;
  // OpenAPI 3.1: bytes have a media type of their own, and no encoding as text.
  return value.contentMediaType !== undefined && value.contentEncoding === undefined && !isText(value.contentMediaType);
}

function isText(mediaType: unknown): boolean {
  return typeof mediaType === 'string' && /^text\/|[/+](?:json|xml)$/.test(mediaType);
}
