import { BadDocument, type Located } from './document.ts';
import type { DocumentParameter } from './parameters.ts';

/** A path as it is called, and what a document put behind it. */
export interface PathParts {
  path: string;
  /** Names and values, not encoded. A value may be a placeholder. */
  query: readonly (readonly [name: string, value: string])[];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/**
 * Takes apart a path with a query or a fragment. OpenAPI allows neither, and yet documents tell operations with one path apart by them:
 * `/{Bucket}?acl`, `/#Action=RunInstances`, `/search{?q}`. A fragment is not sent.
 */
export function partsOfPath(text: string): PathParts {
  const [whole = ''] = text.replace(/\{[?&][^{}]*\}/g, '').split('#', 1);
  const at = whole.indexOf('?');
  if (at < 0) return { path: whole, query: [] };
  const pairs = whole
    .slice(at + 1)
    .split('&')
    .filter((pair) => pair !== '');
  const query = pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decoded(name), decoded(value.join('='))] as const;
  });
  return { path: whole.slice(0, at), query };
}

/**
 * The parameters of an operation together with the query of its path: constants become fixed values, and `name={x}` takes the value of the
 * parameter x. Throws BadDocument when nothing has that value.
 */
export function withQueryOfPath(
  found: readonly DocumentParameter[],
  { path, query }: PathParts,
  operation: Located,
): DocumentParameter[] {
  let parameters = [...found];
  for (const [name, value] of query) {
    const placeholder = /^\{([^{}]*)\}$/.exec(value)?.[1];
    const own = parameters.find((each) => each.in === 'query' && (each.name === name || each.name === placeholder));
    const template = parameters.find((each) => each.in === 'path' && each.name === placeholder);
    const as = { name, in: 'query' as const, style: 'form' as const, explode: true };
    if (placeholder === undefined) {
      if (/[{}]/.test(value))
        throw new BadDocument('has a query in its path that cannot be filled in', operation.steps);
      const constant = { ...as, required: true, description: '', schema: { ...operation, value: {} }, fixed: value };
      parameters = [...parameters.filter((each) => each !== own), constant];
    } else if (!own && template) {
      const isElsewhere = path.includes(`{${placeholder}}`);
      parameters = [...parameters.filter((each) => isElsewhere || each !== template), { ...template, ...as }];
    } else if (!own) throw new BadDocument(`has no parameter for {${placeholder}} of the path`, operation.steps);
  }
  return parameters;
}
