import type { Document } from '../../spec/rules/types.ts';
import { isEqual } from './change.ts';
import { type OperationPart, unknownKey } from './messages.ts';

type Server = { url: string; variables?: Record<string, { default?: string }>; [key: string]: unknown };

/** Keys of the document that are compared elsewhere, or that say nothing about what is valid. */
const KNOWN = new Set(['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'webhooks', 'components']);

/** Differences of the document as a whole: where it is served, and what no rule knows. Tags are compared with their operations. */
export function compareWhole(before: Document, after: Document): OperationPart[] {
  const parts = compareServers((before.servers ?? []) as Server[], (after.servers ?? []) as Server[]);
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (!KNOWN.has(key) && !isEqual(before[key], after[key])) parts.push(unknownKey('document', key));
  return parts;
}

/**
 * A server is known by the path of its URL: the origin is the reader's own. Variables count with their defaults. Another
 * origin is an addition, another path breaks all callers.
 */
function compareServers(before: Server[], after: Server[]): OperationPart[] {
  const [was, is] = [before.map(pathOf), after.map(pathOf)];
  const part = (kind: OperationPart['kind'], what: string, name: string): OperationPart => ({
    kind,
    place: 'servers',
    what,
    names: kind === 'breaking' ? [name] : [],
  });
  const gone = was.filter((path) => !is.includes(path));
  if (gone.length > 0)
    return gone.map((path) => part('breaking', `\`${path}\` is gone, there is ${is.join(', ') || 'none'}`, path));
  const added = is.filter((path) => !was.includes(path));
  if (added.length > 0) return added.map((path) => part('addition', `\`${path}\` is new`, path));
  if (isEqual(before, after)) return [];
  const urls = after.map(({ url }) => url);
  return [part('addition', `${before.map(({ url }) => url).join(', ')} → ${urls.join(', ')}`, urls[0] ?? '')];
}

function pathOf({ url, variables = {} }: Server): string {
  const filled = url.replaceAll(/\{(\w+)\}/g, (_, name) => variables[name]?.default ?? '');
  return new URL(filled, 'http://localhost').pathname;
}
