import { createHash } from 'node:crypto';
import { BadDocument, type Fields, isFields, type Located, objectAt } from './document.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;
/** Characters of a name that is made of a method and a path: what all providers take as the name of a tool. */
const MAX_NAME = 64;
/** Characters of a path: it is stored, and a part of each call. */
const MAX_PATH = 2_000;
/** Characters of the digest at the end of a name that was cut, or that two operations would have. */
const DIGEST_CHARS = 8;

/** An operation of a document. */
export interface Candidate {
  /** The operationId where one other has it; else a name that is made of the method and the path. */
  name: string;
  /** In lower case. */
  method: string;
  path: string;
  item: Located<Fields>;
  operation: Located<Fields>;
}

/** The operations of a document by what a request may call them. */
export interface OperationIndex {
  /** By operationId, or by the name that was made in its place. */
  byName: ReadonlyMap<string, Candidate>;
  /** By `METHOD /path`. */
  byPath: ReadonlyMap<string, Candidate>;
  /** The operationIds that more than one operation has. */
  twice: ReadonlySet<string>;
}

/** Finds all operations of a document. Schemas are not looked at, so that it takes milliseconds for thousands of operations. */
export function candidatesOf(document: Fields): OperationIndex {
  const found: (Omit<Candidate, 'name'> & { operationId: string | undefined })[] = [];
  const counts = new Map<string, number>();
  for (const [path, value] of Object.entries(isFields(document.paths) ? document.paths : {})) {
    if (path.length > MAX_PATH) continue;
    let item: Located<Fields>;
    try {
      item = objectAt(document, { value, steps: ['paths', path] });
    } catch (error) {
      // A requested operation of this path is then reported as not found.
      if (error instanceof BadDocument) continue;
      throw error;
    }
    for (const method of METHODS) {
      const operation = item.value[method];
      if (!isFields(operation)) continue;
      const { operationId } = operation;
      const id = typeof operationId === 'string' && operationId !== '' ? operationId : undefined;
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
      const located = { value: operation, steps: [...item.steps, method] };
      found.push({ method, path, item, operation: located, operationId: id });
    }
  }
  const isOwn = (id: string | undefined): id is string => id !== undefined && counts.get(id) === 1;
  const names = namesOf(
    found.filter(({ operationId }) => !isOwn(operationId)),
    new Set(counts.keys()),
  );
  const byName = new Map<string, Candidate>();
  const byPath = new Map<string, Candidate>();
  for (const each of found) {
    const { operationId, ...rest } = each;
    const candidate = { ...rest, name: isOwn(operationId) ? operationId : (names.get(each) ?? '') };
    byName.set(candidate.name, candidate);
    byPath.set(`${rest.method.toUpperCase()} ${rest.path}`, candidate);
  }
  return { byName, byPath, twice: new Set(counts.keys().filter((id) => !isOwn(id))) };
}

/**
 * A name for each operation, such as `get_repos_owner_repo_issues`. Names that are too long, taken, or wished for by several operations
 * end with a digest of method and path, so that a name does not depend on the order of the document.
 */
function namesOf<T extends Pick<Candidate, 'method' | 'path'>>(
  operations: readonly T[],
  taken: ReadonlySet<string>,
): Map<T, string> {
  const wishes = new Map<T, string>();
  const counts = new Map<string, number>();
  for (const each of operations) {
    const wish = `${each.method}_${each.path}`.replace(/[^A-Za-z0-9-]+/g, '_').replace(/_$/, '');
    wishes.set(each, wish);
    counts.set(wish, (counts.get(wish) ?? 0) + 1);
  }
  const used = new Set(taken);
  const names = new Map<T, string>();
  for (const [each, wish] of wishes) {
    let name = wish;
    for (
      let round = 0;
      name.length > MAX_NAME || used.has(name) || (round === 0 && counts.get(wish) !== 1);
      round += 1
    ) {
      const digest = createHash('sha256')
        .update(`${each.method} ${each.path} ${round || ''}`)
        .digest('hex');
      name = `${wish.slice(0, MAX_NAME - DIGEST_CHARS - 1)}_${digest.slice(0, DIGEST_CHARS)}`;
    }
    used.add(name);
    names.set(each, name);
  }
  return names;
}

/** The operation that a request calls `wanted`, or why there is none. */
export function candidateOf({ byName, byPath, twice }: OperationIndex, wanted: string): Candidate | string {
  const [, method = '', path = ''] = /^\s*([A-Za-z]+)\s+(\/.*?)\s*$/s.exec(wanted) ?? [];
  const found = byName.get(wanted) ?? byPath.get(`${method.toUpperCase()} ${path}`);
  if (found !== undefined) return found;
  return twice.has(wanted)
    ? 'is an operationId that the document uses twice: write the method and the path, such as GET /orders'
    : 'is no operation of the document: write its operationId, or its method and path, such as GET /orders';
}
