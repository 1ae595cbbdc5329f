import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../../support/http/app.ts';

export type Link = components['schemas']['ExternalLink'];

let made = 0;

/** Adds a link through the API. */
export async function makeLink(
  app: TestApp,
  fields: { title?: string; url?: string } = {},
  key?: string,
): Promise<Link> {
  const body = { title: `Link ${++made}`, url: 'https://docs.acme.example', ...fields };
  const answer = await app.api('post', '/hub/external-links', key).send(body).expect(201);
  return answer.body;
}

/** The links of a hub, as the API lists them. */
export async function listLinks(app: TestApp, key?: string): Promise<Link[]> {
  return (await app.api('get', '/hub/external-links', key).expect(200)).body;
}
