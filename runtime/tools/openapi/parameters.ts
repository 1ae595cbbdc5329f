import { isOwnedByHttp } from '../../../core/outgoing.ts';
import type { ImportedParameter, ParameterStyle } from '../../../db/stored/importedEndpoint.ts';
import { isHeaderName } from '../request/headers.ts';
import { BadDocument, type Fields, isFields, type Located, objectAt } from './document.ts';
import { type PathParts, withQueryOfPath } from './paths.ts';

/** A parameter as the document describes it. */
export interface DocumentParameter extends Omit<ImportedParameter, 'input'> {
  required: boolean;
  /** As the document has it. */
  description: unknown;
  schema: Located;
}

/** Of an operation, or of a path. */
const MAX_PARAMETERS = 1000;
/** Characters of a parameter's name: it is stored, and sent with each call. */
const MAX_NAME = 500;

/** OpenAPI 3 has them in a query alone, Swagger 2 everywhere. */
const DELIMITED = ['spaceDelimited', 'pipeDelimited', 'tabDelimited'] as const;
const STYLES: Readonly<Record<ImportedParameter['in'], readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix', ...DELIMITED],
  query: ['form', 'deepObject', ...DELIMITED],
  header: ['simple', ...DELIMITED],
};
/** OpenAPI 3.1, 4.8.12.1: parameters of these names are ignored. `accept` with a value of its own is sent all the same. */
const NOT_PARAMETERS = new Set(['content-type', 'authorization']);

function readParameter(document: Fields, located: Located<Fields>): DocumentParameter | undefined {
  const { value, steps } = located;
  const { name, in: where } = value;
  // Nobody should use it any more.
  if (value.deprecated === true && value.required !== true && where !== 'path') return undefined;
  if (typeof name !== 'string' || name === '') throw new BadDocument('must have a name', steps);
  if (name.length > MAX_NAME)
    throw new BadDocument(`must not have more than ${MAX_NAME} characters`, [...steps, 'name']);
  if (where === 'cookie') {
    if (value.required !== true) return undefined;
    throw new BadDocument('must not be a cookie: cookies are not supported', [...steps, 'in']);
  }
  if (where !== 'path' && where !== 'query' && where !== 'header') {
    throw new BadDocument('must be path, query, header or cookie', [...steps, 'in']);
  }
  const place: ImportedParameter['in'] = where;
  const common = {
    name,
    in: place,
    required: where === 'path' || value.required === true,
    description: value.description,
  };
  if (isFields(value.content)) {
    const [type = ''] = Object.keys(value.content);
    if (!/[/+]json$/i.test(type)) throw new BadDocument('must be JSON', [...steps, 'content']);
    const media = objectAt(document, { value: value.content[type], steps: [...steps, 'content', type] });
    const schema = { value: media.value.schema, steps: [...media.steps, 'schema'] };
    return { ...common, style: 'json', explode: false, schema };
  }
  const [usual = 'simple'] = STYLES[where];
  const style = STYLES[where].find((each) => each === (value.style ?? usual));
  if (style === undefined) throw new BadDocument(`must be one of ${STYLES[where].join(', ')}`, [...steps, 'style']);
  const explode = typeof value.explode === 'boolean' ? value.explode : style === 'form';
  const schema = { value: value.schema, steps: [...steps, 'schema'] };
  const fixed = fixedValue(document, schema, common);
  return {
    ...common,
    style,
    explode,
    schema,
    ...(where === 'query' && value.allowReserved === true ? { allowReserved: true } : {}),
    ...(fixed === undefined ? {} : { fixed }),
  };
}

/**
 * The one value that a parameter can have: a version of the API, say, which a model need not be told about. Of `accept`, which no model
 * chooses, the default or else the first value.
 */
function fixedValue(
  document: Fields,
  located: Located,
  { name, in: where, required }: Pick<DocumentParameter, 'name' | 'in' | 'required'>,
): unknown {
  if (!isFields(located.value)) return undefined;
  const { const: only, enum: allowed, default: usual } = objectAt(document, located).value;
  const isAccept = where === 'header' && name.toLowerCase() === 'accept';
  if (!required && !isAccept) return undefined;
  const listed: unknown[] = Array.isArray(allowed) ? allowed : [];
  const value = only ?? (isAccept ? (usual ?? listed[0]) : listed.length === 1 ? listed[0] : undefined);
  return (typeof value === 'string' && value.length <= MAX_NAME) || Number.isFinite(value) ? value : undefined;
}

/**
 * The parameters of an operation, those of its path included where it does not replace them. Throws BadDocument when one
 * cannot be sent, or when a placeholder of the path has no parameter.
 */
export function readParameters(
  document: Fields,
  parts: PathParts,
  item: Located<Fields>,
  operation: Located<Fields>,
  authHeader: string | undefined,
): DocumentParameter[] {
  const byPlace = new Map<string, DocumentParameter>();
  for (const { value, steps } of [item, operation]) {
    if (!Array.isArray(value.parameters)) continue;
    if (value.parameters.length > MAX_PARAMETERS)
      throw new BadDocument(`must not have more than ${MAX_PARAMETERS} items`, [...steps, 'parameters']);
    for (const [index, each] of value.parameters.entries()) {
      const parameter = readParameter(
        document,
        objectAt(document, { value: each, steps: [...steps, 'parameters', index] }),
      );
      if (parameter === undefined) continue;
      const name = parameter.name.toLowerCase();
      if (parameter.in === 'header') {
        if (NOT_PARAMETERS.has(name) || name === authHeader?.toLowerCase() || isOwnedByHttp(name)) continue;
        if (name === 'accept' && parameter.fixed === undefined) continue;
        if (!isHeaderName(name))
          throw new BadDocument('must be the name of a header', [...steps, 'parameters', index, 'name']);
      }
      byPlace.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  const { path } = parts;
  if (!path.startsWith('/')) throw new BadDocument('must begin with a slash', ['paths', path]);
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (!byPlace.has(`path ${name}`))
      throw new BadDocument(`has no parameter for {${name}} of the path`, operation.steps);
  }
  const all = withQueryOfPath([...byPlace.values()], parts, operation);
  return all.filter((each) => each.in !== 'path' || path.includes(`{${each.name}}`));
}
