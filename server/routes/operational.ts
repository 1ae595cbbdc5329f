import express, { type Router } from 'express';
import type { Registry } from 'prom-client';
import { docsPage } from './docsPage.ts';
import { type DocumentParts, documentRoutes } from './document/routes.ts';

/** The parts of the service that the operational routes read. */
export interface OperationalParts extends DocumentParts {
  registry: Registry;
  ready(): boolean;
  ping(): Promise<boolean>;
}

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
  router.use(documentRoutes(parts), docsPage());
  return router;
}
