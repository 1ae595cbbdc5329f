import { fork } from 'node:child_process';
import { Readable } from 'node:stream';
import express, { type Router } from 'express';
import { chooseEncoding, sendUnzipped } from '../encoding.ts';
import type { DocumentFormat, RenderedDocument, RenderRequest } from './rendering.ts';

/** The parts of the service that the document shows. */
export interface DocumentParts {
  /** Has the address that clients reach the service by; empty before it listens. */
  runtime: { publicUrl: string };
}

const SCRIPT = new URL('./worker.ts', import.meta.url);
const RENDER_MS = 30_000;
const MEDIA_TYPES: Record<DocumentFormat, string> = { json: 'application/json', yaml: 'application/yaml' };

/**
 * `/openapi.json` and `/openapi.yaml`, readable from every origin. Each is rendered when it is first asked for, in a process of its own:
 * YAML takes a third of a second, and a thread leaves 50 MB behind. Only the compressed texts are kept, a tenth of the document.
 */
export function documentRoutes({ runtime }: DocumentParts): Router {
  const rendered = new Map<string, Promise<RenderedDocument>>();

  function documentAs(format: DocumentFormat): Promise<RenderedDocument> {
    const request: RenderRequest = { format, origin: runtime.publicUrl };
    const key = `${format} ${request.origin}`;
    const known = rendered.get(key) ?? render(request);
    rendered.set(key, known);
    // The next request tries again.
    known.catch(() => rendered.delete(key));
    return known;
  }

  const router = express.Router();
  for (const format of ['json', 'yaml'] as const)
    router.get(`/openapi.${format}`, async (request, response) => {
      const document = await documentAs(format);
      response.type(MEDIA_TYPES[format]);
      // SDK generators and reviewers in a browser read the document from elsewhere than this origin.
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Cache-Control', 'no-cache');
      response.setHeader('ETag', document.etag);
      const encoding = chooseEncoding(request, response);
      if (encoding) response.send(encoding === 'br' ? document.brotli : document.gzip);
      else if (request.fresh) response.status(304).end();
      else await sendUnzipped(request, response, Readable.from([document.gzip]));
    });
  return router;
}

function render(request: RenderRequest): Promise<RenderedDocument> {
  const child = fork(SCRIPT, { execArgv: [], env: {}, serialization: 'advanced', timeout: RENDER_MS });
  return new Promise((resolve, reject) => {
    child.once('message', (document) => resolve(document as unknown as RenderedDocument));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`The document was not rendered: ${signal ?? `exit ${code}`}.`)),
    );
    child.send(request);
  });
}
