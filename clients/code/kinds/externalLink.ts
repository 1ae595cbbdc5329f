import type { components } from '../../../generated/api.ts';
import type { Api } from '../api.ts';
import type { Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { changesOf } from './fields.ts';

type Schemas = components['schemas'];

/** New links come to the end of the menu, so that they are made one after the other. */
const creating = new WeakMap<Api, Promise<unknown>>();

/** The links in the menu of the hub: `hub/links.yaml`, in the order of the menu. The API cannot change the place of a link that exists. */
export const externalLinkKind: Kind = {
  kind: 'external-link',
  after: [],
  layout: { form: 'list', file: 'hub/links.yaml' },
  nameField: 'title',
  isOrdered: true,
  schema: fileSchema(['ExternalLinkCreate'], { omit: ['title'] }),

  async list({ api }) {
    const links = await api.call('listExternalLinks', {});
    return links.map((raw) => ({ id: raw.publicId, name: raw.title, raw }));
  },

  async read({ raw }) {
    const { title, url } = raw as Schemas['ExternalLink'];
    return { kind: 'external-link', name: title, fields: { url }, files: {} };
  },

  async create(entry, { api, idempotencyKey }) {
    const body = { title: entry.name, ...entry.fields } as Schemas['ExternalLinkCreate'];
    const before = creating.get(api) ?? Promise.resolve();
    const next = before.catch(() => undefined).then(() => api.call('createExternalLink', { body, idempotencyKey }));
    creating.set(api, next);
    return { id: (await next).publicId, entry };
  },

  async change(id, before, after, { api }) {
    const body: Schemas['ExternalLinkUpdate'] = changesOf(before, after, ['url']);
    if (before.name !== after.name) body.title = after.name;
    if (Object.keys(body).length > 0) await api.call('updateExternalLink', { path: { linkPublicId: id }, body });
  },

  async remove(id, { api }) {
    await api.call('deleteExternalLink', { path: { linkPublicId: id } });
  },
};
