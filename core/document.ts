import { readFileSync } from 'node:fs';

/** The bundled document. Only the fields that the service reads are typed. */
export interface OpenApiDocument {
  openapi: string;
  components: { schemas: Record<string, DocumentSchema> };
  [field: string]: unknown;
}

/** A schema of the document, its references in place. */
export interface DocumentSchema {
  description?: string;
  /** The schemas that an open object has, by the values of a field: its own, or one of the object around it. */
  'x-schemas'?: { propertyName: string; mapping: Record<string, { $ref: string }> };
  [keyword: string]: unknown;
}

const FILE = new URL('../generated/openapi.json', import.meta.url);

let document: OpenApiDocument | undefined;

/** The bundled document, read at the first call. It is shared: nobody may change it. */
export function readDocument(): OpenApiDocument {
  document ??= JSON.parse(readFileSync(FILE, 'utf8')) as OpenApiDocument;
  return document;
}
