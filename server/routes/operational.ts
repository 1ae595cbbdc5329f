import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Router } from 'express';
import type { Registry } from 'prom-client';

/** What the operational routes report on. */
export interface OperationalParts {
  document: object;
  registry: Registry;
  ready(): boolean;
  ping(): Promise<boolean>;
}

const VIEWER = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Guildhall API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="icon" href="/docs/assets/favicon-32x32.png">
</head>
<body>
<div id="reference"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

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
    json ??= JSON.stringify(parts.document);
    response.type('application/json').send(json);
  });
  router.get('/openapi.yaml', async (_request, response) => {
    const { stringify } = await import('yaml');
    yaml ??= stringify(parts.document, { aliasDuplicateObjects: false });
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
    response.type('text/javascript').send(START);
  });
  router.use('/docs/assets', express.static(assets, { index: false, maxAge: '1h' }));
  return router;
}
