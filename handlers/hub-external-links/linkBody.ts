import { invalid } from '../../core/errors.ts';
import type { ExternalLinkRow } from '../../db/queries/hubs/externalLinks.ts';
import type { components } from '../../generated/api.ts';

/** The link as the contract shows it. */
export function linkBody(row: ExternalLinkRow): components['schemas']['ExternalLink'] {
  return {
    publicId: row.id,
    title: row.title,
    url: row.url,
    displayOrder: row.display_order,
    createdAt: row.created_at.toISOString(),
  };
}

/** Throws VALIDATION_ERROR for an address that no browser can open. That it begins with http or https, the schema has checked. */
export function checkLinkAddress(url: string | undefined): void {
  if (url !== undefined && !URL.canParse(url)) throw invalid('/body/url', 'The address is not a valid URL.');
}
