import { fault } from '../../../core/errors.ts';
import { hubAsset } from './assets.ts';
import type { HubRoute } from './visit.ts';

/** `/assets/<name>`: what the pages load. */
export const assetRoute: HubRoute = {
  name: 'hubAsset',
  method: 'GET',
  path: '/assets/{name}',
  counted: 'page',
  handle({ params }) {
    const asset = hubAsset(params.name ?? '');
    if (!asset) throw fault('NOT_FOUND');
    return { asset };
  },
};
