import express, { type Router } from 'express';
import type { Registry } from 'prom-client';
import { protect } from '../api/identify.ts';

/** The parts of the service that the operational routes read. */
export interface OperationalParts {
  ready(): boolean;
  /** What keeps the database from serving; undefined when nothing does. */
  ping(): Promise<string | undefined>;
}

/** Routes of every process, without a key: whether it lives and is ready. */
export function operationalRoutes(parts: OperationalParts): Router {
  const router = express.Router();
  router.use(['/livez', '/readyz'], (_request, response, next) => {
    protect(response);
    next();
  });
  router.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    const reason = parts.ready() ? await parts.ping() : 'the service is starting or stopping';
    if (reason === undefined) response.json({ status: 'ok' });
    else response.status(503).json({ status: 'unavailable', reason });
  });
  return router;
}

/** `/metrics`, without a key. */
export function metricsRoute(registry: Registry): Router {
  const router = express.Router();
  router.get('/metrics', async (_request, response) => {
    protect(response);
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}
