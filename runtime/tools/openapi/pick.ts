import { BadDocument, type Fields, isFields, stepsOf, valueAt } from './document.ts';
import { type Candidate, candidateOf, candidatesOf, type OperationIndex } from './operations.ts';

/** What a document says of the whole API. */
const WHOLE = ['openapi', 'swagger', 'info', 'servers', 'host', 'basePath', 'schemes', 'consumes'] as const;
/** What an operation says that no call needs. */
const NOT_CALLED = new Set(['responses', 'callbacks', 'externalDocs', 'security', 'tags', 'produces', 'operationId']);
/** References that are followed. A document of which more are needed is larger than one may be stored. */
const MAX_REFERENCES = 20_000;

/**
 * The document with the operations that `wanted` names, and with what they refer to. Names that name nothing are left out: the import says so. Each
 * operation has the operationId by which it is imported. Parts are shared with `document`, which is not changed.
 */
export function pickOperations(document: Fields, wanted: readonly string[]): Fields {
  const picked: Fields = {};
  for (const key of WHOLE) if (Object.hasOwn(document, key)) picked[key] = document[key];
  const index = candidatesOf(document);
  const paths: Record<string, Fields> = Object.create(null);
  for (const name of wanted) {
    for (const [candidate, id] of namedBy(index, name)) {
      const { path, method, item, operation } = candidate;
      const { parameters, servers } = item.value;
      paths[path] ??= {
        ...(parameters === undefined ? {} : { parameters }),
        ...(servers === undefined ? {} : { servers }),
      };
      paths[path][method] = { operationId: id, ...calledPart(operation.value) };
    }
  }
  picked.paths = { ...paths };
  new Follower(document, picked).follow(picked.paths);
  return picked;
}

/** The operation that is meant, or two that have the operationId, so that the import names the fault. */
function namedBy(index: OperationIndex, wanted: string): [Candidate, string][] {
  const candidate = candidateOf(index, wanted);
  if (typeof candidate !== 'string') return [[candidate, candidate.name]];
  if (!index.twice.has(wanted)) return [];
  const same = [...index.byPath.values()].filter(({ operation }) => operation.value.operationId === wanted);
  return same.slice(0, 2).map((each) => [each, wanted]);
}

function calledPart(operation: Fields): Fields {
  return Object.fromEntries(Object.entries(operation).filter(([key]) => !NOT_CALLED.has(key) && !key.startsWith('x-')));
}

/** Copies what is referred to, each to the place that it has in the document. */
class Follower {
  readonly #document: Fields;
  readonly #picked: Fields;
  readonly #seen = new Set<string>();
  /** Objects of this copy: others belong to the document and must not be changed. */
  readonly #own = new WeakSet<object>();

  constructor(document: Fields, picked: Fields) {
    this.#document = document;
    this.#picked = picked;
    this.#own.add(picked);
  }

  follow(start: unknown): void {
    const open = [start];
    while (open.length > 0) {
      const next = open.pop();
      if (typeof next !== 'object' || next === null) continue;
      for (const [key, value] of Object.entries(next)) {
        if (typeof value === 'object' && value !== null) open.push(value);
        else if (key === '$ref' && typeof value === 'string') open.push(this.#copied(value));
      }
    }
  }

  /** What is referred to, when it was copied just now. */
  #copied(ref: string): unknown {
    if (this.#seen.has(ref) || this.#seen.size >= MAX_REFERENCES) return undefined;
    this.#seen.add(ref);
    let steps: string[];
    try {
      steps = stepsOf(ref, []);
    } catch (error) {
      // The import says what is wrong with it.
      if (error instanceof BadDocument) return undefined;
      throw error;
    }
    const value = valueAt(this.#document, steps);
    const last = steps.pop();
    if (typeof value !== 'object' || value === null || last === undefined) return undefined;
    let place = this.#picked;
    for (const step of steps) {
      const inner = Object.hasOwn(place, step) ? place[step] : undefined;
      const next: Fields = isFields(inner) && this.#own.has(inner) ? inner : { ...(inner as object | undefined) };
      this.#own.add(next);
      Object.defineProperty(place, step, { value: next, enumerable: true, writable: true, configurable: true });
      place = next;
    }
    Object.defineProperty(place, last, { value, enumerable: true, writable: true, configurable: true });
    return value;
  }
}
