import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Router } from 'express';
import type { Registry } from 'prom-client';
import { servedDocument } from './servedDocument.ts';

/** The parts of the service that the operational routes read. */
export interface OperationalParts {
  document: object;
  /** Has the address that clients reach the service by. */
  runtime: { publicUrl: string };
  registry: Registry;
  ready(): boolean;
  ping(): Promise<boolean>;
}

const VIEWER = readFileSync(new URL('../pages/docs/index.html', import.meta.url), 'utf8');
const VIEWER_SCRIPT = readFileSync(new URL('../pages/docs/start.js', import.meta.url), 'utf8');

/** Routes beside the contract, without a key: health, metrics, the document, and the API reference. */
export function operationalRoutes(parts: OperationalParts): Router {
  const router = express.Router();
  router.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const ready = parts.ready() && (await parts.ping());
    response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable' });
  });
  router.get('/metrics', async (_request, response) => {
    response.type(parts.registry.contentType).send(await parts.registry.metrics());
  });
  // SDK generators and reviewers in a browser read the document from elsewhere than this origin.
  router.use(['/openapi.json', '/openapi.yaml'], (_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    next();
  });
  // Rendered once: the YAML takes a third of a second, and anybody may ask for it.
  let json: string | undefined;
  let yaml: string | undefined;
  router.get('/openapi.json', (_request, response) => {
    json ??= JSON.stringify(servedDocument(parts.document, parts.runtime.publicUrl));
    response.type('application/json').send(json);
  });
  router.get('/openapi.yaml', async (_request, response) => {
    const { stringify } = await import('yaml');
    yaml ??= stringify(servedDocument(parts.document, parts.runtime.publicUrl), { aliasDuplicateObjects: false });
    response.type('application/yaml').send(yaml);
  });
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  router.use('/docs', (_request, response, next) => {
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
    );
    response.setHeader('X-Content-Type-Options', 'nosniff');
    next();
  });
  router.get('/docs', (_request, response) => {
    response.type('html').send(VIEWER);
  });
  router.get('/docs/start.js', (_request, response) => {
    response.type('text/javascript').send(VIEWER_SCRIPT);
  });
  router.use('/docs/assets', express.static(assets, { index: false, maxAge: '1h' }));
  return router;
}
