import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { insertHubPackage, lockExisting, lockHubPackage } from '../../db/queries/billing/hubPackages.ts';
import type { components } from '../../generated/api.ts';
import type { DB } from '../../generated/db.ts';
import { planRuleFault } from './planTerms.ts';

type Content = components['schemas']['PlanContent'];
type Section = components['schemas']['PlanContentSection']['section'];

/** Where a plan gets its content from: exactly one of the two, as the document demands. */
export interface ContentChoice {
  packagePublicId?: string;
  content?: Content;
}

const DEFAULT_SECTIONS: readonly Section[] = ['chat', 'support'];

/**
 * The id of the package with the plan's content: the one that is named, or a new one, which has the name of the plan. It is not removed until
 * the transaction ends. Throws PACKAGE_NOT_FOUND, AGENT_NOT_FOUND, EXTERNAL_LINK_NOT_FOUND, and PLAN_RULE_VIOLATED for a section that has two places.
 */
export async function takePackage(
  trx: Transaction<DB>,
  workspaceId: string,
  { packagePublicId, content }: ContentChoice,
  { planName, now }: { planName: string; now: Date },
): Promise<string> {
  if (content) return makePackage(trx, workspaceId, content, { planName, now });
  const found = packagePublicId && (await lockHubPackage(trx, workspaceId, packagePublicId));
  if (!found) throw fault('PACKAGE_NOT_FOUND');
  return found.id;
}

async function makePackage(
  trx: Transaction<DB>,
  workspaceId: string,
  content: Content,
  { planName, now }: { planName: string; now: Date },
): Promise<string> {
  const sections = sectionsOf(content);
  const agentIds = distinctIds(content.agents.map(({ agentPublicId }) => agentPublicId));
  const agents = await lockExisting(trx, 'agents', workspaceId, agentIds);
  if (agents.length < agentIds.length) throw fault('AGENT_NOT_FOUND');
  const linkIds = distinctIds(content.externalLinkPublicIds ?? []);
  const links = await lockExisting(trx, 'external_links', workspaceId, linkIds);
  if (links.length < linkIds.length) throw fault('EXTERNAL_LINK_NOT_FOUND');
  const id = newId();
  await insertHubPackage(
    trx,
    {
      workspace_id: workspaceId,
      id,
      name: planName,
      pages: content.pages,
      section_ordering: JSON.stringify(sections),
      created_at: now,
    },
    { agentIds, linkIds },
  );
  return id;
}

/** The sections in their order; one that is not listed comes after those that are. Throws PLAN_RULE_VIOLATED for one that has two places. */
export function sectionsOf({ sectionOrdering }: Pick<Content, 'sectionOrdering'>): Section[] {
  const listed = [...(sectionOrdering ?? [])].sort((a, b) => a.displayOrder - b.displayOrder);
  const sections = listed.map(({ section }) => section);
  if (new Set(sections).size < sections.length) throw planRuleFault('A section has one place in the menu.');
  return [...sections, ...DEFAULT_SECTIONS.filter((section) => !sections.includes(section))];
}

/** A UUID is the same in upper and in lower case. */
export function distinctIds(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
