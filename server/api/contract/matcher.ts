import { fault, invalid } from '../../../core/errors.ts';

/** Finds the operation of a method and path, as `createMatcher` built it. */
export interface Match<Operation> {
  operation: Operation;
  /** Decoded path parameters. */
  params: Record<string, string>;
}

interface Node<Operation> {
  children: Map<string, Node<Operation>>;
  parameter?: Node<Operation>;
  /** Per method: the operation and the names of its path parameters, in order. */
  operations: Map<string, { operation: Operation; names: string[] }>;
}

function emptyNode<Operation>(): Node<Operation> {
  return { children: new Map(), operations: new Map() };
}

/**
 * Builds the path matcher once: a tree by segment, literal before parameter, as OpenAPI orders concrete paths before
 * templated ones. (The matcher of openapi-backend compiles a regular expression per operation and request.)
 *
 * HEAD finds the operation of GET. The returned function throws NOT_FOUND, METHOD_NOT_ALLOWED (with `Allow`) or, for an encoding that is not UTF-8
 * percent-encoding, VALIDATION_ERROR.
 */
export function createMatcher<Operation extends { path: string; method: string }>(
  operations: readonly Operation[],
): (method: string, path: string) => Match<Operation> {
  const root = emptyNode<Operation>();
  for (const operation of operations) {
    const names: string[] = [];
    let node = root;
    for (const segment of operation.path.split('/').slice(1)) {
      const name = /^\{(.+)\}$/.exec(segment)?.[1];
      if (name === undefined) {
        const child = node.children.get(segment) ?? emptyNode();
        node.children.set(segment, child);
        node = child;
      } else {
        names.push(name);
        node = node.parameter ??= emptyNode();
      }
    }
    node.operations.set(operation.method.toUpperCase(), { operation, names });
  }

  function find(node: Node<Operation>, segments: string[], at: number, values: string[]): Node<Operation> | undefined {
    const segment = segments[at];
    if (segment === undefined) return node.operations.size > 0 ? node : undefined;
    const child = node.children.get(segment);
    const literal = child && find(child, segments, at + 1, values);
    if (literal) return literal;
    if (!node.parameter || segment === '') return undefined;
    values.push(segment);
    const found = find(node.parameter, segments, at + 1, values);
    if (!found) values.pop();
    return found;
  }

  return (method, path) => {
    const values: string[] = [];
    const node = find(root, path.split('/').slice(1), 0, values);
    if (!node) throw fault('NOT_FOUND');
    const match = node.operations.get(method === 'HEAD' ? 'GET' : method);
    if (!match) {
      const methods = [...node.operations.keys()];
      const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
      throw fault('METHOD_NOT_ALLOWED', undefined, { headers: { Allow: allowed.join(', ') } });
    }
    const params: Record<string, string> = {};
    match.names.forEach((name, i) => {
      params[name] = decodeSegment(values[i] ?? '', name);
    });
    return { operation: match.operation, params };
  };
}

function decodeSegment(segment: string, name: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid(`/path/${name}`, 'must be percent-encoded UTF-8', 'encoding');
  }
}
