import express, { type Router } from 'express';
import type { Registry } from 'prom-client';
import { protect } from '../api/identify.ts';

/** The parts of the service that the operational routes read. */
export interface OperationalParts {
  registry: Registry;
  ready(): boolean;
  ping(): Promise<boolean>;
}

/** Routes of every process, without a key: health and metrics. */
export function operationalRoutes(parts: OperationalParts): Router {
  const router = express.Router();
  router.use(['/livez', '/readyz', '/metrics'], (_request, response, next) => {
    protect(response);
    next();
  });
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
  return router;
}
