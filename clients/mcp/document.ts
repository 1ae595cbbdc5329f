import type { Access } from './access.ts';

/** An object of JSON, as far as the document is read here. */
type Json = { [key: string]: unknown };

/** The parts of a document that are cut out by tag. */
interface Document extends Json {
  tags: { name: string; description?: string }[];
  paths: Record<string, Json>;
  components: Record<string, Record<string, unknown>>;
}

/** One area of the API. */
export interface Area {
  /** The tag in kebab-case, as addresses have it. */
  slug: string;
  tag: string;
  description: string;
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** The tag in kebab-case. */
export function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/**
 * The service's OpenAPI document, whole and by area. It is fetched when it is first asked for and kept, since a service never changes its
 * document while it runs. One instance for each service.
 */
export class ServiceDocument {
  #text: Promise<string> | undefined;
  #parts: Promise<Map<string, { area: Area; text: string }>> | undefined;

  /** The document as it is served. Rejects when the service does not answer with it; the next call tries again. */
  text(access: Access, signal: AbortSignal): Promise<string> {
    if (this.#text) return this.#text;
    const text = fetchDocument(access, signal);
    this.#text = text;
    text.catch(() => {
      if (this.#text === text) this.#text = undefined;
    });
    return text;
  }

  /** Every area, in the order of the document. */
  async areas(access: Access, signal: AbortSignal): Promise<Area[]> {
    return [...(await this.#cut(access, signal)).values()].map(({ area }) => area);
  }

  /** The document of one area: its operations, and the components that they need; undefined when there is no such area. */
  async part(slug: string, access: Access, signal: AbortSignal): Promise<string | undefined> {
    return (await this.#cut(access, signal)).get(slug)?.text;
  }

  #cut(access: Access, signal: AbortSignal) {
    if (this.#parts) return this.#parts;
    const parts = this.text(access, signal).then(cutByTag);
    this.#parts = parts;
    parts.catch(() => {
      if (this.#parts === parts) this.#parts = undefined;
    });
    return parts;
  }
}

async function fetchDocument(access: Access, signal: AbortSignal): Promise<string> {
  const address = `${await access.origin()}/openapi.json`;
  const response = await fetch(address, { signal });
  if (!response.ok) throw new Error(`${address} answers ${response.status}.`);
  return response.text();
}

async function cutByTag(text: string): Promise<Map<string, { area: Area; text: string }>> {
  const document = JSON.parse(text) as Document;
  const parts = new Map<string, { area: Area; text: string }>();
  for (const { name: tag, description = '' } of document.tags) {
    // One area in each turn of the event loop: a service that answers others does this, too.
    await new Promise((resolve) => setImmediate(resolve));
    const area = { slug: slugOf(tag), tag, description };
    parts.set(area.slug, { area, text: JSON.stringify(partOf(document, tag)) });
  }
  return parts;
}

/** The document with the operations of one tag, and what they refer to. */
function partOf(document: Document, tag: string): Json {
  const paths: Record<string, Json> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    const kept = Object.entries(item).filter(
      ([method, operation]) => !METHODS.has(method) || (operation as { tags: string[] }).tags.includes(tag),
    );
    if (kept.some(([method]) => METHODS.has(method))) paths[path] = Object.fromEntries(kept);
  }
  const components: Record<string, Record<string, unknown>> = {};
  const waiting: unknown[] = [paths];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key !== '$ref' || typeof inner !== 'string') {
        waiting.push(inner);
        continue;
      }
      const [, , kind = '', name = ''] = inner.split('/');
      const found = document.components[kind]?.[name];
      components[kind] ??= {};
      if (found === undefined || name in components[kind]) continue;
      components[kind][name] = found;
      waiting.push(found);
    }
  }
  const { openapi, info, servers, security } = document;
  const securitySchemes = document.components.securitySchemes ?? {};
  const tags = document.tags.filter(({ name }) => name === tag);
  return { openapi, info, servers, security, tags, paths, components: { ...components, securitySchemes } };
}
