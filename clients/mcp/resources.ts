import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Access } from './access.ts';
import type { ServiceDocument } from './document.ts';
import { GUIDE } from './guide.ts';

const GUIDE_URI = 'guildhall://guide';
const DOCUMENT_URI = 'guildhall://openapi';
const JSON_TYPE = 'application/json';

/** The template of the resources of one area each. */
export const AREA_TEMPLATE = {
  uriTemplate: 'guildhall://openapi/{tag}',
  name: 'openapi-area',
  title: 'The contract of one area',
  description:
    'The part of the OpenAPI document with the operations of one area, such as agents or agent-features, and the schemas that they use.',
  mimeType: JSON_TYPE,
};

/** What the list of resources has. The areas are found with the template and its completion. */
export const RESOURCES: Resource[] = [
  {
    uri: GUIDE_URI,
    name: 'guide',
    title: 'Working with Guildhall',
    description: 'How agents are built, published, talked to and debugged, and what errors mean. Two pages.',
    mimeType: 'text/markdown',
    annotations: { audience: ['assistant'], priority: 0.9 },
  },
  {
    uri: DOCUMENT_URI,
    name: 'openapi',
    title: 'The OpenAPI document',
    description: `The whole contract of the API: over 1 MB. For a model, ${AREA_TEMPLATE.uriTemplate} has one area of it.`,
    mimeType: JSON_TYPE,
    annotations: { audience: ['user'], priority: 0.1 },
  },
];

/** The contents of a resource. Throws the protocol's error for an unknown one, and InternalError when the service does not give it. */
export async function readResource(
  uri: string,
  { document, access, signal }: { document: ServiceDocument; access: Access; signal: AbortSignal },
): Promise<ReadResourceResult> {
  if (uri === GUIDE_URI) return { contents: [{ uri, mimeType: 'text/markdown', text: GUIDE }] };
  const [, slug] = /^guildhall:\/\/openapi\/([a-z0-9-]+)$/.exec(uri) ?? [];
  if (uri !== DOCUMENT_URI && slug === undefined) throw new ResourceNotFoundError(uri);
  let text: string | undefined;
  try {
    text = await (slug === undefined ? document.text(access, signal) : document.part(slug, access, signal));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, `The document could not be read: ${reason}`);
  }
  if (text === undefined) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
}
